"""If, Loop and Scan: bodies that capture, stack, fail, and are compiled like programs."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from rlx.backends.array.numpy import open_cpu
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError
from rlx.program import load


def compiled(text: str):
    """A program in ONNX's text form, without its header, on the numpy backend."""
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 22]>\n' + text)
    return open_cpu(DeviceSpec("cpu"), {}).compile(load(model), CompileOptions())


def f(*values):
    return np.array(values, np.float32)


def test_if_takes_the_branch_and_captures():
    executable = compiled(
        """m (bool c, float[2] x) => (float[2] y) {
             double = Add(x, x)
             y = If(c) <then_branch = a () => (float[2] p) { p = Neg(double) },
                        else_branch = b () => (float[2] q) { q = Identity(double) }>
           }"""
    )
    x = f(1, -2)
    (taken,), (other,) = (executable.run([np.array(c), x]) for c in (True, False))
    np.testing.assert_array_equal(taken, f(-2, 4))
    np.testing.assert_array_equal(other, f(2, -4))
    np.testing.assert_array_equal(x, f(1, -2))


LOOP = """m (int64 n, bool go, float[2] x) => (float[2] last, float[T,2] all) {
  one = Constant <value_float = 1.0> ()
  limit = Constant <value_float = 4.0> ()
  last, all = Loop(n, go, x) <body = b (int64 i, bool c, float[2] s) =>
      (bool again, float[2] next, float[2] row) {
        next = Add(s, one)
        top = ReduceMax <keepdims = 0> (next)
        again = Less(top, limit)
        row = Neg(s)
      }>
}"""


@pytest.mark.parametrize(
    ("trips", "go", "last", "rows"),
    [
        (2, True, [3, 2], [[-1, 0], [-2, -1]]),
        (9, True, [4, 3], [[-1, 0], [-2, -1], [-3, -2]]),
        (0, True, [1, 0], np.zeros((0, 2))),
        (5, False, [1, 0], np.zeros((0, 2))),
    ],
)
def test_loop_runs_until_told_to_stop(trips, go, last, rows):
    found = compiled(LOOP).run([np.array(trips), np.array(go), f(1, 0)])
    np.testing.assert_array_equal(found[0], f(*last))
    np.testing.assert_array_equal(found[1], np.array(rows, np.float32))
    assert found[1].dtype == np.float32


def test_scan_goes_both_ways_along_its_axes():
    executable = compiled(
        """m (float s, float[2,3] x) => (float total, float[2,3] sums) {
             total, sums = Scan(s, x) <num_scan_inputs = 1, scan_input_axes = [1],
               scan_input_directions = [1], scan_output_axes = [1], scan_output_directions = [1],
               body = b (float a, float[2] column) => (float out, float[2] row) {
                 part = ReduceSum <keepdims = 0> (column)
                 out = Add(a, part)
                 row = Add(column, out)
               }>
           }"""
    )
    total, sums = executable.run([np.array(0, np.float32), f([1, 2, 3], [4, 5, 6])])
    assert total == 21
    np.testing.assert_array_equal(sums, f([22, 18, 12], [25, 21, 15]))


def test_bodies_inside_bodies_capture_from_all_around():
    executable = compiled(
        """m (bool c, int64 n, float[1] x) => (float[1] y) {
             go = Constant <value = bool {1}> ()
             y = Loop(n, go, x) <body = b (int64 i, bool on, float[1] s) =>
               (bool again, float[1] next) {
                 again = Identity(on)
                 next = If(c) <then_branch = t () => (float[1] p) { p = Add(s, x) },
                               else_branch = e () => (float[1] q) { q = Mul(s, x) }>
               }>
           }"""
    )
    (added,) = executable.run([np.array(True), np.array(3), f(3)])
    (multiplied,) = executable.run([np.array(False), np.array(3), f(3)])
    assert (added.item(), multiplied.item()) == (12, 81)


def test_a_failure_names_the_node_inside():
    executable = compiled(
        """m (bool c, float[A] x, float[B] y) => (float[C] z) {
             z = If(c) <then_branch = t () => (float[D] p) { [inner] p = Add(x, y) },
                        else_branch = e () => (float[E] q) { q = Neg(x) }>
           }"""
    )
    with pytest.raises(ExecutionError, match=r"^node 'inner' Add failed: operands could not be"):
        executable.run([np.array(True), f(1, 2), f(1, 2, 3)])
