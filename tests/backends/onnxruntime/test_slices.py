"""Slices that go backwards end where ONNX says, whatever the end is."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest

from rlx.backends.onnxruntime import open_cpu
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.program import load

pytestmark = pytest.mark.needs("onnxruntime")
X = np.arange(5, dtype=np.float32)
ENDS = (2**63 - 1, 2**63 - 2, 2**31 - 1, 2**31, 2, 0, -1, -(2**63))
PLACES = list(product((2, 2**63 - 1, -1), ENDS, (-1, -2, 1)))


def sliced(text: str, inputs: list[np.ndarray]) -> list[float]:
    """What onnxruntime gives."""
    program = load(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> {text}'))
    executable = open_cpu(DeviceSpec("cpu", 0), {}).compile(program, CompileOptions())
    found: list[float] = np.asarray(executable.run(inputs)[0]).tolist()
    executable.close()
    return found


def right(start: int, end: int, step: int) -> list[float]:
    """By ONNX's text: negative numbers count from the end, and all are clamped to the axis."""
    start, end = (value + 5 if value < 0 else value for value in (start, end))
    low, high = (0, 5) if step > 0 else (-1, 4)
    start = min(max(start, 0), high)
    return [float(at) for at in range(start, min(max(end, low), high), step)]


@pytest.mark.parametrize(("start", "end", "step"), PLACES)
def test_with_constant_bounds(start: int, end: int, step: int) -> None:
    text = (
        f"g (float[5] x) => (float[m] y) <int64[1] s = {{{start}}}, int64[1] e = {{{end}}},"
        f" int64[1] a = {{0}}, int64[1] k = {{{step}}}> {{ y = Slice(x, s, e, a, k) }}"
    )
    assert sliced(text, [X]) == right(start, end, step)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize(("start", "end", "step"), PLACES)
def test_with_bounds_that_are_inputs(dtype: type, start: int, end: int, step: int) -> None:
    limits = np.iinfo(dtype)
    bounds = [int(np.clip(value, limits.min, limits.max)) for value in (start, end, step)]
    kind = np.dtype(dtype).name
    text = (
        f"g (float[5] x, {kind}[1] s, {kind}[1] e, {kind}[1] k) => (float[m] y)"
        f" <{kind}[1] a = {{0}}> {{ y = Slice(x, s, e, a, k) }}"
    )
    arrays = [np.array([value], dtype) for value in bounds]
    assert sliced(text, [X, *arrays]) == right(*bounds)


@pytest.mark.parametrize("shared", ["int64[1] e = {9223372036854775807}", ""])
def test_in_a_branch_that_reads_the_end_of_the_program(shared: str) -> None:
    given = "" if shared else ", int64[1] e"
    constants = f", {shared}" if shared else ""
    text = (
        f"g (float[5] x, bool c{given}) => (float[m] y)"
        f" <int64[1] s = {{3}}, int64[1] a = {{0}}, int64[1] k = {{-1}}{constants}>"
        " { y = If(c) <then_branch = t () => (float[m] u) { u = Slice(x, s, e, a, k) },"
        " else_branch = f () => (float[m] v) { v = Identity(x) }> }"
    )
    end = [] if shared else [np.array([2**63 - 1])]
    assert sliced(text, [X, np.array(True), *end]) == []
    assert sliced(text, [X, np.array(False), *end]) == X.tolist()
