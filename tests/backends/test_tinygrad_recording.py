"""tinygrad records what it can of a program, and never keeps a value of an input."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends import tinygrad
from rlx.backends.protocol import CompileOptions
from rlx.backends.tinygrad_run import MOST
from rlx.device import DeviceSpec
from rlx.program import load

pytestmark = pytest.mark.needs("tinygrad")
CPU = DeviceSpec("cpu", 0)
X = np.array([1, -2], np.float32)


def program(text: str) -> Any:
    """A program from ONNX's text syntax."""
    return load(onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 25]> {text}'))


def compiled(text: str) -> Any:
    return tinygrad.open_cpu(CPU, {}).compile(program(text), CompileOptions())


RECORDED = {
    "one step": ("g (float[2] x) => (float[2] y) { y = Neg(x) }", True),
    "sizes alone": (
        "g (float[2] x) => (float[1,2] y) <int64[1] o = {1}> "
        "{ s = Shape(x) t = Concat<axis = 0>(o, s) z = Neg(x) y = Reshape(z, t) }",
        True,
    ),
    "an output that is an input": (
        "g (float[2] x) => (float[2] y, float[2] z) { y = Neg(x) z = Identity(x) }",
        True,
    ),
    "written places": (
        "g (float[2] x) => (float[2] y, float[2] z) <int64[1,1] i = {0}, float[1] u = {9}> "
        "{ y = ScatterND(x, i, u) z = Neg(x) }",
        True,
    ),
    "written constants": (
        "g (float[1] x) => (float[2] y) <float[2] c = {1, 2}, int64[1,1] i = {0}> "
        "{ y = ScatterND(c, i, x) }",
        True,
    ),
    "nothing to do": ("g (float[2] x) => (float[2] y) { y = Identity(x) }", False),
    "places found": ("g (float[2] x) => (int64[1,n] y) { y = NonZero(x) }", False),
    "a branch": (
        "g (float[2] x, bool c) => (float[2] y) { y = If(c) "
        "<then_branch = a () => (float[2] p) { p = Neg(x) }, "
        "else_branch = b () => (float[2] q) { q = Abs(x) }> }",
        False,
    ),
    "a shape that is an input": (
        "g (float[6] x, int64[2] s) => (float[a,b] y) { y = Reshape(x, s) }",
        False,
    ),
    "a shape made of an input": (
        "g (float[6] x, int64[2] s) => (float[a,b] y) { t = Neg(s) u = Neg(t) y = Reshape(x, u) }",
        False,
    ),
}
GIVEN: dict[str, list[list[Any]]] = {
    "a branch": [[X, np.array(True)], [X, np.array(False)], [X + 1, np.array(True)]],
    "written constants": [[X[:1]], [X[1:]]],
    "places found": [[X], [X * 0], [np.array([0, 1], np.float32)]],
    "a shape that is an input": [
        [np.arange(6, dtype=np.float32), np.array(shape)] for shape in ([2, 3], [6, 1], [3, 2])
    ],
}
GIVEN["a shape made of an input"] = GIVEN["a shape that is an input"]


@pytest.mark.parametrize("case", RECORDED)
def test_every_run_answers_for_its_own_inputs(case: str) -> None:
    """As onnx's evaluator does, call after call; what depends on data is not recorded."""
    from rlx.backends.reference import open_cpu as oracle

    text, recorded = RECORDED[case]
    ours = compiled(text)
    theirs = oracle(CPU, {}).compile(program(text), CompileOptions())
    given = GIVEN.get(case, [[X], [X + 5], [X * 2]])
    for inputs in given + given:
        for found, wanted in zip(ours.run(inputs), theirs.run(inputs), strict=True):
            np.testing.assert_array_equal(found, wanted)
            assert found.dtype == wanted.dtype
    assert bool(ours._recorded) == recorded


def test_each_set_of_sizes_is_recorded_and_the_oldest_forgotten() -> None:
    executable = compiled("g (float[n] x) => (float[n] y) { y = Neg(x) }")
    for size in [*range(MOST + 2), 1, 0, MOST + 1]:
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(executable.run([x])[0], -x)
    assert len(executable._recorded) == MOST  # nothing is recorded for no elements


@pytest.mark.parametrize(
    "text",
    [
        "<int64[1] s = {-1}> { y = Reshape(x, s) }",
        "<int64 a = {0}> { y = CumSum(x, a) }",
        "{ s = Constant<value_ints = [2]>() y = Reshape(x, s) }",
        "{ a = Constant<value_int = 0>() y = CumSum(x, a) }",
        "{ s = Constant<value = int64[1] {2}>() y = Reshape(x, s) }",
    ],
)
def test_constants_are_read_without_a_device(text: str) -> None:
    """tinygrad reads those without memory on its processor, which may lack a compiler."""
    from rlx.backends.reference import open_cpu as oracle

    text = f"g (float[2] x) => (float[2] y) {text}"
    ours = compiled(text)
    ours._runner.forget()
    assert len(ours._runner._runner._python_const_cache) == 1
    (wanted,) = oracle(CPU, {}).compile(program(text), CompileOptions()).run([X])
    for _ in range(2):
        np.testing.assert_array_equal(ours.run([X])[0], wanted)
