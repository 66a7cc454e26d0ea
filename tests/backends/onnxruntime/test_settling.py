"""What has no elements, and what nothing needs, is taken out of a model without changing it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends.onnxruntime.empties import settle
from rlx.backends.onnxruntime.pruning import prune
from rlx.errors import ExecutionError
from rlx.program import load

pytestmark = pytest.mark.needs("onnxruntime")
AXES = "a = Constant <value = int64[1] {0}> ()"
EMPTY = [
    ("g (float[0] x, float[1] y) => (float[0] z) { z = Add(x, y) }", []),
    ("g (float[0,3] x) => (float[0,3] z) { t = Relu(x) z = Neg(t) }", []),
    ("g (float[2,0] x, float[0,3] y) => (float[2,3] z) { z = MatMul(x, y) }", []),
    (
        "g (float[2,0] x, float[0,3] y, float[3] c) => (float[2,3] z) { z = Gemm(x, y, c) }",
        ["Add"],
    ),
    (
        f"g (float[0,3] x) => (float[3] z) {{ {AXES} z = ReduceSum <keepdims = 0> (x, a) }}",
        [],
    ),
    (
        "g (float[0,3] x, float[2,3] y) => (float[2,3] z) { z = Concat <axis = 0> (x, y) }",
        ["Identity"],
    ),
    (
        "g (float[1] x, float[0] e, float[2] y) => (float[3] z) "
        "{ z = Concat <axis = 0> (x, e, y) }",
        ["Concat"],
    ),
    (
        "g (float[2] x) => (float[2] z, float[0] e) "
        "{ s = Constant <value = int64[2] {2, 0}> () z, e = Split <axis = 0> (x, s) }",
        ["Identity"],
    ),
    ("g (float[0] x, float[2] y) => (float[0] z, float[2] w) { z = Neg(x) w = Exp(y) }", ["Exp"]),
]
UNUSED = [
    ("g (float[2] u, float[3] x) => (float[3] z) { z = Neg(x) }", ["x"], ["Neg"]),
    ("g (float[2] u, float[3] x) => (float[3] z) { t = Exp(u) z = Neg(x) }", ["x"], ["Neg"]),
    (
        "g (float[3] x, float[3] y) => (float[3] z) { t = Exp(x) s = Sub(t, y) z = Neg(t) }",
        ["x"],
        ["Exp", "Neg"],
    ),
    (
        "g (bool c, float[3] x, float[3] y, float[3] u) => (float[3] z) { z = If (c) "
        "<then_branch = a () => (float[3] p) { p = Neg(x) }, "
        "else_branch = b () => (float[3] q) { q = Exp(y) }> }",
        ["c", "x", "y"],
        ["If"],
    ),
]


def program(text: str) -> Any:
    return load(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}'))


def run(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    engine: Any = import_module("onnxruntime")
    cpu = ["CPUExecutionProvider"]
    session = engine.InferenceSession(model.SerializeToString(), providers=cpu)
    held = {value.name for value in session.get_inputs()}
    return list(session.run(None, {name: x for name, x in feeds.items() if name in held}))


def feeds(source: Any) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        one.name: np.array(rng.random(one.type.shape) > 0.5)
        if one.type.dtype == "bool"
        else rng.random(one.type.shape, np.float32)
        for one in source.inputs
    }


@pytest.mark.parametrize(("text", "left"), EMPTY)
def test_what_has_no_elements_is_settled(text: str, left: list[str]) -> None:
    """The model gives the same, and no node of it has an operand or a result without elements."""
    source = program(text)
    model = source.to_onnx()
    settle(model, source, import_module("onnxruntime"), "it")
    assert [node.op_type for node in model.graph.node] == left
    given = feeds(source)
    for got, wanted in zip(run(model, given), run(source.to_onnx(), given), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_what_cannot_be_settled_is_refused() -> None:
    source = program(
        "g (float[2,0] x, float[0,3] y, float[3] c) => (float[2,3] z) "
        "{ z = Gemm <beta = 2.0> (x, y, c) }"
    )
    with pytest.raises(ExecutionError) as caught:
        settle(source.to_onnx(), source, import_module("onnxruntime"), "it")
    assert str(caught.value) == (
        "it does not compute node 'Gemm_0' Gemm: an operand or a result has no elements. "
        "Fix: choose another backend for this program: try `rlx explain --all`."
    )


def test_a_model_whose_values_all_have_elements_is_left_alone() -> None:
    source = program("g (float[N] x) => (float[N] z) { z = Neg(x) }")
    model = source.to_onnx()
    before = model.SerializeToString()
    settle(model, source, import_module("onnxruntime"), "it")
    prune(model)
    assert model.SerializeToString() == before


@pytest.mark.parametrize(("text", "inputs", "nodes"), UNUSED)
def test_what_nothing_needs_is_taken_out(text: str, inputs: list[str], nodes: list[str]) -> None:
    source = program(text)
    model = source.to_onnx()
    prune(model)
    assert [value.name for value in model.graph.input] == inputs
    assert [node.op_type for node in model.graph.node] == nodes
    given = feeds(source)
    np.testing.assert_array_equal(run(model, given), run(source.to_onnx(), given))
