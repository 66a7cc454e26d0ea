"""Integers that OpenVINO would cut to 32 bits are refused, before or when they come in."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from rlx.backends.openvino.integers import KEEP, UNREDUCED, WIDE, fits
from rlx.backends.protocol import CompileOptions, Executable
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError
from rlx.operations import Vocabulary, generate
from rlx.program import load

pytestmark = pytest.mark.needs("openvino")
ELSEWHERE = " Fix: choose another backend: run `rlx explain --all`."


def compiled(text: str) -> Executable:
    from rlx.backends.openvino import open_cpu

    model = onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 25]> {text}')
    return open_cpu(DeviceSpec("cpu", 0), {}).compile(load(model), CompileOptions())


WIDE_CASES = {
    "arithmetic": (
        "g (int64[2] x) => (int64[2] y) { y = Neg(x) }",
        "openvino-cpu computes int64 in 32 bits, which node Neg_0 (Neg) may exceed",
    ),
    "within": (
        "g (int32[2] x) => (bool[2] y) { "
        "w = Cast<to = 7>(x) m = Mul(w, w) z = Sub(w, w) y = Equal(m, z) }",
        "openvino-cpu computes int64 in 32 bits, which node Mul_1 (Mul) may exceed",
    ),
    "from floats": (
        "g (float[2] x) => (uint32[2] y) { y = Cast<to = 12>(x) }",
        "openvino-cpu computes uint32 in 32 bits, which node Cast_0 (Cast) may exceed",
    ),
    "sums": (
        "g (int64[3] x, int64[2] i, int64[2] u) => (int64[3] y) "
        '{ y = ScatterElements<reduction = "add">(x, i, u) }',
        "openvino-cpu computes int64 in 32 bits, "
        "which node ScatterElements_0 (ScatterElements) may exceed",
    ),
    "constants": (
        "g (int64[2] x) => (int64[3] y) <int64[1] c = {4294967296}> { y = Concat<axis = 0>(x, c) }",
        "openvino-cpu computes wide integers in 32 bits, and c is larger",
    ),
    "attributes": (
        "g (int64[1] x) => (int64[a] y) { y = ConstantOfShape<value = int64[1] {4294967296}>(x) }",
        "openvino-cpu computes wide integers in 32 bits, and ConstantOfShape_0's value is larger",
    ),
}


@pytest.mark.parametrize("case", WIDE_CASES)
def test_integers_that_32_bits_may_not_hold_are_refused(case: str) -> None:
    text, message = WIDE_CASES[case]
    with pytest.raises(ExecutionError) as caught:
        compiled(text)
    assert str(caught.value) == message + "." + ELSEWHERE


@pytest.mark.parametrize("dtype", sorted(WIDE))
def test_an_input_with_larger_integers_is_refused(dtype: str) -> None:
    executable = compiled(f"g ({dtype}[2,1] x) => ({dtype}[1,2] y) {{ y = Transpose(x) }}")
    small = np.array([[2**31 - 1], [5]], dtype)
    np.testing.assert_array_equal(executable.run([small])[0], small.T)
    for large in (2**31, np.iinfo(dtype).max):
        with pytest.raises(ExecutionError) as caught:
            executable.run([np.array([[large], [5]], dtype)])
        assert str(caught.value) == (
            f"openvino-cpu computes {dtype} in 32 bits, and x holds larger numbers. "
            "Fix: choose another backend for this input."
        )


def test_slices_may_end_beyond_all_ends() -> None:
    text = (
        "g (float[4] x) => (float[a] y) <int64[1] s = {1}, int64[1] e = {9223372036854775807}> "
        "{ y = Slice(x, s, e) }"
    )
    (y,) = compiled(text).run([np.arange(4, dtype=np.float32)])
    np.testing.assert_array_equal(y, [1, 2, 3])


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        (1, 2**63 - 1, 1),
        (-(2**63), 2**63 - 1, 1),
        (3, -(2**63), -1),
        (2**63 - 1, -(2**63), -(2**31)),
        (3, 2**63 - 1, -1),
        (0, 2**31, 2**40),
    ],
)
def test_slices_may_be_told_any_numbers(start: int, end: int, step: int) -> None:
    text = (
        "g (float[4] x, int64[1] s, int64[1] e, int64[1] t) => (float[a] y) "
        "<int64[1] i = {0}> { y = Slice(x, s, e, i, t) }"
    )
    x = np.arange(4, dtype=np.float32)
    (y,) = compiled(text).run([x, *(np.array([one]) for one in (start, end, step))])
    np.testing.assert_array_equal(y, x[start:end:step])


@pytest.mark.parametrize("operation", ["Shape", "Size"])
@pytest.mark.parametrize("dtype", sorted(WIDE))
def test_what_is_measured_may_hold_any_numbers(operation: str, dtype: str) -> None:
    sizes = "[1]" if operation == "Shape" else ""
    text = f"g ({dtype}[n] x) => (int64{sizes} y) {{ y = {operation}(x) }}"
    (y,) = compiled(text).run([np.full(3, np.iinfo(dtype).max, dtype)])
    assert y.tolist() == ([3] if operation == "Shape" else 3)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "uint32", "int32", "float32"])
def test_integers_fit_where_32_bits_hold_them(dtype: str) -> None:
    assert fits(np.array([0, 2**31 - 1], dtype))
    assert fits(np.array([2**31], dtype)) == (dtype not in WIDE) if dtype != "int32" else True


def test_the_operations_that_keep_integers_exist() -> None:
    vocabulary = Vocabulary(generate.operations(), generate.opset())
    assert [name for name in KEEP | UNREDUCED if vocabulary.get(name) is None] == []
