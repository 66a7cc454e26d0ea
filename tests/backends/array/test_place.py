"""Placing: what stays on the host, what moves, and what that means for compiling."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest

from rlx.backends.array.engine import ArrayBackend
from rlx.backends.array.library import Library
from rlx.backends.protocol import CompileOptions
from rlx.program import load

pytestmark = pytest.mark.needs("array_api_strict")


def library(**changes) -> Library:
    """array-api-strict, as a library whose arrays are not NumPy's."""
    import array_api_strict as xp

    made = Library(
        name="strict",
        xp=xp,
        version=xp.__version__,
        device="cpu",
        to_native=xp.asarray,
        copy=lambda x: xp.asarray(x, copy=True),
    )
    return replace(made, **changes)


def compiled(text: str, **changes):
    """A program in ONNX's text form, without its header."""
    program = load(f'<ir_version: 10, opset_import: ["": 28]>\n{text}'.encode())
    return ArrayBackend(library(**changes)).compile(program, CompileOptions())


def transfers(executable) -> list[str]:
    """The transfers of a run, in order."""
    return [label for label in executable._plan.labels if " to " in label]


def run(executable, *inputs) -> list[np.ndarray]:
    return [executable.to_host(y) for y in executable.run(list(inputs))]


FLATTENING = """m (float[A, B, 2] x) => (float[C, 2] y) {
  axis = Constant<value = int64[1] {-1}>()
  zero = Constant<value = int64[1] {2}>()
  s = Shape(x)
  last = Gather<axis = 0>(s, zero)
  to = Concat<axis = 0>(axis, last)
  y = Reshape(x, to)
}"""
CHOOSING = """m (float[2] x, bool c) => (float[2] y) {
  y = If (c) <
    then_branch = a () => (float[2] p) { p = Neg(x) },
    else_branch = b () => (float[2] q) { q = Identity(x) }
  >
}"""
BY_THE_DATA = """m (float[2] x) => (float[2] y) {
  axes = Constant<value = int64[1] {0}>()
  zero = Constant<value = float {0.0}>()
  s = ReduceSum<keepdims = 0>(x, axes)
  c = Greater(s, zero)
  [choice] y = If (c) <
    then_branch = a () => (float[2] p) { p = Neg(x) },
    else_branch = b () => (float[2] q) { q = Identity(x) }
  >
}"""
COUNTING = """m (float[2] x) => (float[2] y) {
  n = Constant<value = int64 {3}>()
  t = Constant<value = bool {1}>()
  y = Loop (n, t, x) <
    body = b (int64 i, bool going, float[2] v) => (bool again, float[2] w) {
      again = Identity(going)
      w = Add(v, v)
    }
  >
}"""
ONES = np.ones(2, np.float32)


def test_what_follows_from_shapes_is_computed_without_the_device():
    executable = compiled(FLATTENING)
    assert transfers(executable) == []
    (y,) = run(executable, np.ones((3, 4, 2), np.float32))
    assert y.shape == (12, 2)


def test_an_input_that_says_how_stays_a_numpy_array():
    executable = compiled("m (float[A] x, int64[2] s) => (float[B, C] y) { y = Reshape(x, s) }")
    assert executable._plan.host_inputs == (False, True)
    (y,) = run(executable, np.ones(6, np.float32), np.asarray([2, 3]))
    assert y.shape == (2, 3)


def test_a_choice_by_an_input_needs_no_transfer():
    executable = compiled(CHOOSING)
    assert executable._plan.findings == ()
    assert [float(run(executable, ONES, np.asarray(c))[0][0]) for c in (True, False)] == [-1, 1]


def test_a_choice_by_the_data_says_that_it_waits():
    executable = compiled(BY_THE_DATA)
    says = "node 'choice' If: it reads the values of 'c', which the device computes"
    assert executable._plan.findings == (says,)
    assert run(executable, ONES)[0].tolist() == [-1, -1]


def test_a_loop_of_a_known_number_of_turns_waits_for_nothing():
    executable = compiled(COUNTING)
    assert executable._plan.findings == ()
    assert run(executable, ONES)[0].tolist() == [8, 8]


def test_weights_move_once_when_the_program_is_compiled():
    import array_api_strict as xp

    moved = []

    def to_native(x):
        moved.append(x.shape)
        return xp.asarray(x)

    text = "m (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Add(x, w) }"
    executable = compiled(text, to_native=to_native)
    assert moved == [(2,)]
    run(executable, ONES)
    assert moved == [(2,), (2,)]


class Compiler:
    """Compiles nothing, and counts."""

    def __init__(self, error: Exception | None = None):
        self.calls = 0
        self.error = error

    def __call__(self, function, weights, inputs):
        self.calls += 1
        if self.error is not None:
            raise self.error
        return lambda given: function(weights, given)


def test_one_form_is_compiled_for_each_combination_of_shapes_and_host_values():
    compiler = Compiler()
    text = "m (float[A, B] x, int64[1] axes) => (float[C, D] y) { y = ReduceSum(x, axes) }"
    executable = compiled(text, compile=compiler)
    for rows, axis in ((2, 0), (2, 0), (3, 0), (3, 1), (3, 1)):
        (y,) = run(executable, np.ones((rows, 3), np.float32), np.asarray([axis]))
        assert y.shape == ((1, 3) if axis == 0 else (rows, 1))
    assert (compiler.calls, executable.uncompiled) == (3, None)


def test_a_program_that_waits_for_data_is_not_compiled_and_says_so(caplog):
    caplog.set_level(logging.INFO, "rlx")
    compiler = Compiler()
    executable = compiled(BY_THE_DATA, compile=compiler)
    why = "node 'choice' If: it reads the values of 'c', which the device computes"
    assert (compiler.calls, executable.uncompiled) == (0, why)
    assert caplog.messages == [f"m: strict runs it uncompiled: {why}"]


def test_a_compiler_that_fails_is_done_without(caplog):
    caplog.set_level(logging.INFO, "rlx")
    text = "m (float[2] x) => (float[2] y) { y = Neg(x) }"
    executable = compiled(text, compile=Compiler(RuntimeError("no compiler here")))
    assert run(executable, ONES)[0].tolist() == [-1, -1]
    assert executable.uncompiled == "it cannot be compiled: no compiler here"
    assert caplog.messages == [
        "m: strict runs it uncompiled: it cannot be compiled: no compiler here"
    ]


@pytest.mark.parametrize("feeds", [False, True])
def test_a_compiled_form_that_fails_is_done_without_and_warned_of(feeds, caplog):
    def compiler(function, weights, inputs):
        def run(given):
            raise RuntimeError("not with these")

        return run

    executable = compiled(
        "m (float[2] x) => (float[2] y) { y = Neg(x) }", compile=compiler, feeds=feeds
    )
    for _ in range(2):
        assert run(executable, ONES)[0].tolist() == [-1, -1]
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "m: strict runs it uncompiled: its compiled form failed: not with these")
    ]


def test_dtypes_that_a_library_lacks_stay_with_numpy():
    executable = compiled(
        "m (uint16[2] x) => (uint16[2] y, float[2] z)"
        " { y = Add(x, x)\n f = Cast<to = 1>(x)\n z = Neg(f) }",
        held=frozenset({"uint16"}),
    )
    y, z = executable.run([np.asarray([1, 40000], np.uint16)])
    assert (type(y), y.tolist()) == (np.ndarray, [2, 14464])
    assert type(z) is not np.ndarray
    assert executable.describe(y) == ("uint16", (2,))
    assert executable.describe(z) == ("float32", (2,))
