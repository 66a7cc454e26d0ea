"""A program that IREE claims and can't compile after all runs on the next backend."""

import onnx.parser
import pytest

import rlx
from rlx.errors import UnsupportedFeature

pytestmark = pytest.mark.needs("iree")

MISH = """
<ir_version: 8, opset_import: ["" : 18]>
g (double[3] x) => (double[3] y) { y = Mish(x) }
"""


def test_the_next_backend_is_taken_with_a_reason(monkeypatch):
    program = rlx.load(onnx.parser.parse_model(MISH))
    monkeypatch.setenv("RLX_PRECEDENCE", "iree-cpu,numpy")
    with rlx.Session("cpu") as session, session.compile(program) as model:
        assert (model.backend, model.route.degraded) == ("numpy", True)
        first = model.route.candidates[0]
        assert (first.backend, first.reasons[0].code) == ("iree-cpu", "open-failed")
        assert first.reasons[0].detail.startswith("it failed to compile the program: ")
    with rlx.Session(backend="iree-cpu") as session, pytest.raises(UnsupportedFeature):
        session.compile(program)
