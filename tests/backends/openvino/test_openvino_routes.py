"""OpenVINO is passed over where it can't read a program, before anything is opened."""

from __future__ import annotations

import numpy as np
import pytest

import rlx
from tests.models.agreement import LIMIT, errors
from tests.models.catalogue import MODELS

pytestmark = [pytest.mark.needs("openvino"), pytest.mark.needs("onnxruntime")]


@pytest.mark.needs("models")
def test_silero_is_refused_when_it_is_routed_and_the_next_backend_runs_it(monkeypatch):
    """OpenVINO's reader fails on its branches, whose ranks it does not infer."""
    monkeypatch.setenv("RLX_PRECEDENCE", "openvino-cpu,onnxruntime-cpu")
    model = MODELS["silero-vad"]
    with rlx.Session() as session:
        route = session.route(rlx.load(model.path))
        first = route.candidates[0]
        assert (first.backend, first.verdict, first.reasons[0].code) == (
            "openvino-cpu",
            "rejected",
            "capability",
        )
        assert first.reasons[0].detail == "lacks control_flow, which the program needs"
        assert (route.backend, route.degraded) == ("onnxruntime-cpu", False)
        with session.compile(rlx.load(model.path)) as executable:
            assert executable.backend == "onnxruntime-cpu"
            assert max(errors(executable.run, model)) <= LIMIT


def test_it_is_taken_where_it_comes_first(monkeypatch):
    monkeypatch.setenv("RLX_PRECEDENCE", "openvino-cpu")
    g = rlx.Graph("p")
    g.set_outputs([g.neg(g.input("x", (2,), "f32"))])
    with rlx.Session() as session, session.compile(g) as executable:
        assert executable.backend == "openvino-cpu"
        np.testing.assert_array_equal(executable(np.array([-1, 2], np.float32))[0], [1, -2])
