"""Barriers beside what is lowered: operations of manifests, and of ONNX's own with a body."""

from collections import Counter

import numpy as np
import pytest
from onnx import parser

import rlx
from rlx.session.default import load_registry

OPERATIONS = """\
apiVersion: rlx/v1
kind: Operations
operations:
  - name: acme::Twice
    inputs: [{name: x, type: T}]
    outputs: [{name: "y", type: T}]
    types: {T: [float32]}
    lowering: |
      y = Add (x, x)
"""
PROGRAM = """<ir_version: 10, opset_import: ["" : 21, "acme" : 1, "rlx" : 1]>
g (float[2] x) => (float[2] y) { a = acme.Twice(x)  b = rlx.Barrier(a)  c = acme.Twice(b)
  d = rlx.Barrier<repeat=3>(c)  e = Gelu(d)  f, h = rlx.Barrier(e, d)  y = Sub(f, h) }"""


@pytest.fixture
def registry(tmp_path):
    (tmp_path / "operations.yaml").write_text(OPERATIONS, encoding="utf-8")
    return load_registry((str(tmp_path / "operations.yaml"),))


@pytest.mark.parametrize("backend", ["numpy", "reference"])
@pytest.mark.parametrize("dispatch", ["prefer-native", "common"])
def test_what_is_lowered_is_cut_as_well(registry, backend, dispatch):
    program = rlx.load(parser.parse_model(PROGRAM))
    with rlx.Session(backend=backend, registry=registry, kernel_dispatch=dispatch) as session:
        route = session.route(program)
        (y,) = session.compile(program)(np.array([1, -1], np.float32))
    x = np.array([16, -16], np.float32)
    np.testing.assert_allclose(y, np.where(x > 0, 0, -x), atol=1e-6)
    report = route.dispatch_report
    assert report.stages == 4
    assert ("lowered", "rlx::Barrier", 3) in report.operations
    assert ("lowered", "acme::Twice", 2) in report.operations
    handed = Counter(node.operation for node in route.executed.nodes())
    assert handed.pop("rlx::Barrier") == 3
    assert handed == Counter(dict(report.executed))
    lines = str(route).splitlines()
    assert lines[1].startswith(f"  {2 + (dispatch == 'common')} nodes are lowered (")
    assert lines[2] == "  it is cut at its barriers and runs in 4 stages"


def test_types_behind_a_barrier_are_those_of_what_is_lowered(registry):
    """ONNX infers nothing behind an operation that it does not know."""
    program = rlx.load(parser.parse_model(PROGRAM))
    assert rlx.route(program, backend="numpy", registry=registry).backend == "numpy"
    resolved = rlx.route(program, backend="numpy", registry=registry).program
    types = {name: (one.dtype, one.shape) for name, one in resolved.body.types}
    assert {types[name] for name in "abcdefhy"} == {("float32", (2,))}


def test_an_operation_that_is_claimed_natively_keeps_its_types_in_its_stage(registry):
    """So that the precision of a stage is known to those who compile it."""
    from rlx.program.stages import stages

    program = rlx.load(parser.parse_model(PROGRAM))
    resolved = rlx.route(program, backend="numpy", registry=registry).program
    for stage in stages(resolved).stages:
        assert all(one.known for one in stage.program.requirements.signatures)
