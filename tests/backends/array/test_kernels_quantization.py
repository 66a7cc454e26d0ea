"""Quantization: literal results for every dtype, and exact products against onnxruntime."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

QUICK = settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def f(*values, dtype=np.float32):
    return np.array(values, dtype)


def u8(*values):
    return np.array(values, np.uint8)


def i8(*values):
    return np.array(values, np.int8)


def i32(*values):
    return np.array(values, np.int32)


ONE = np.array(1, np.float32)
TWO = np.array(2, np.float32)
ZERO = np.array(0, np.uint8)
INT4, UINT2, E4, E5 = (
    ml_dtypes.int4,
    ml_dtypes.uint2,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
)
UNTIL_4 = np.arange(4, dtype=np.float32)

CASES = [
    ("QuantizeLinear", {}, [f(1, 3, 5, 700, -9), TWO], [u8(0, 2, 2, 255, 0)]),
    (
        "QuantizeLinear",
        {},
        [f(1, 3, 700, -700), TWO, np.array(-1, np.int8)],
        [i8(-1, 1, 127, -128)],
    ),
    (
        "QuantizeLinear",
        {"axis": 0},
        [f([6, 8], [6, 8]), f(1, 2), u8(0, 10)],
        [u8([6, 8], [13, 14])],
    ),
    ("QuantizeLinear", {"output_dtype": 5}, [f(9, 9e9), TWO], [f(4, 32767, dtype=np.int16)]),
    ("QuantizeLinear", {}, [f(-9, 3, 9), ONE, np.array(0, INT4)], [f(-8, 3, 7, dtype=INT4)]),
    ("QuantizeLinear", {}, [f(-9, 2, 9), ONE, np.array(0, UINT2)], [f(0, 2, 3, dtype=UINT2)]),
    ("QuantizeLinear", {}, [f(2, 1e6), TWO, np.array(0, E4)], [f(1, 448, dtype=E4)]),
    (
        "QuantizeLinear",
        {"saturate": 0},
        [f(2, 1e6), TWO, np.array(0, E5)],
        [f(1, np.inf, dtype=E5)],
    ),
    ("QuantizeLinear", {}, [f(3, 5, dtype=np.float16), np.array(2, np.float16)], [u8(2, 2)]),
    ("QuantizeLinear", {"axis": 0, "block_size": 2}, [f(2, 4, 30), f(2, 10)], [u8(1, 2, 3)]),
    ("DequantizeLinear", {}, [u8(0, 3), TWO], [f(0, 6)]),
    ("DequantizeLinear", {}, [u8(0, 3), TWO, np.array(1, np.uint8)], [f(-2, 4)]),
    ("DequantizeLinear", {"axis": 1}, [i8([1, 2]), f(10, 100), i8(0, 1)], [f([10, 100])]),
    ("DequantizeLinear", {"axis": -1, "block_size": 2}, [i8(1, 2, 3), f(1, 10)], [f(1, 2, 30)]),
    ("DequantizeLinear", {}, [f(-8, 7, dtype=INT4), TWO], [f(-16, 14)]),
    ("DequantizeLinear", {}, [f(0.5, dtype=E4), np.array(4, np.float16)], [f(2, dtype=np.float16)]),
    ("DequantizeLinear", {}, [i32(2**30), ONE], [f(2**30)]),
    ("DequantizeLinear", {"output_dtype": 10}, [u8(3), TWO], [f(6, dtype=np.float16)]),
    (
        "DynamicQuantizeLinear",
        {},
        [f(0, 51, 255)],
        [u8(0, 51, 255), np.array(1, np.float32), np.array(0, np.uint8)],
    ),
    (
        "DynamicQuantizeLinear",
        {},
        [f(-55, 200)],
        [u8(0, 255), np.array(1, np.float32), np.array(55, np.uint8)],
    ),
    ("MatMulInteger", {}, [u8([1, 2]), i8([3], [-4])], [i32([-5])]),
    ("MatMulInteger", {}, [u8([1, 2]), i8([3], [4]), u8(1), i8(1)], [i32([3])]),
    ("MatMulInteger", {}, [u8([1], [2]), i8([3, 4]), u8(0, 1), i8(0, 1)], [i32([3, 3], [3, 3])]),
    ("ConvInteger", {}, [u8([[1, 2, 3]]), u8([[1, 1]])], [i32([[3, 5]])]),
    (
        "ConvInteger",
        {"pads": [1, 0]},
        [u8([[2, 3]]), u8([[1, 1]]), np.array(1, np.uint8)],
        [i32([[1, 3]])],
    ),
    ("QLinearMatMul", {}, [u8([2, 4]), TWO, ZERO, u8([3], [1]), ONE, ZERO, TWO, ZERO], [u8([10])]),
    (
        "QLinearMatMul",
        {},
        [u8([3]), ONE, ZERO, u8([1, 1]), f(1, 10), u8(0, 0), TWO, np.array(1, np.uint8)],
        [u8([3, 16])],
    ),
    (
        "QLinearConv",
        {},
        [u8([[1, 2, 3]]), TWO, ZERO, u8([[1, 1]]), ONE, ZERO, ONE, np.array(1, np.uint8), i32(5)],
        [u8([[17, 21]])],
    ),
    (
        "QLinearConv",
        {},
        [u8([[1, 2]]), ONE, ZERO, u8([[1]], [[1]]), f(1, 10), u8(0, 0), ONE, ZERO],
        [u8([[1, 2], [10, 20]])],
    ),
]


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_quantized_values_are_the_literal_ones(
    run_node, operation, attributes, inputs, expected
):
    for constants in ((), range(1, len(inputs))):
        results = run_node(operation, attributes, inputs, expected, constants)
        for found, wanted in zip(results, expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_array_equal(found.astype(float), wanted.astype(float))


BYTES = st.sampled_from([np.int8, np.uint8])


def values(shape, dtype, seed):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape).astype(dtype)


@QUICK
@given(st.integers(1, 700), BYTES, st.integers(0, 9))
def test_integer_products_are_exact(run_node, depth, dtype, seed):
    a, b = values((2, depth), np.uint8, seed), values((depth, 3), dtype, seed + 1)
    zero = np.array(7, np.uint8)
    wanted = (a.astype(np.int32) - 7) @ b.astype(np.int32)
    (found,) = run_node("MatMulInteger", {}, [a, b, zero], [wanted])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(st.integers(1, 3), st.integers(1, 2), st.integers(0, 1), st.integers(0, 9))
def test_qlinear_conv_agrees_with_onnxruntime(run_node, run_onnxruntime, k, stride, pad, seed):
    x, w = values((1, 4, 6, 5), np.uint8, seed), values((6, 2, k, k), np.int8, seed + 1)
    attributes = {"group": 2, "strides": [stride] * 2, "pads": [pad] * 4}
    scales = np.linspace(0.01, 0.02, 6, dtype=np.float32)
    inputs = [x, np.array(0.5, np.float32), np.array(100, np.uint8), w, scales]
    inputs += [np.zeros(6, np.int8), np.array(0.7, np.float32), np.array(128, np.uint8)]
    (wanted,) = run_onnxruntime("QLinearConv", attributes, inputs)
    (found,) = run_node("QLinearConv", attributes, inputs, [wanted])
    assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1


def test_quantizing_to_a_float_product_is_refused(run_node):
    eight = np.zeros((1, 1), E4)
    zero = np.array(0, E4)
    inputs = [eight, ONE, zero, eight, ONE, zero, ONE, zero]
    with pytest.raises(NotImplementedError, match="operand 0 is float8e4m3fn; int8 and uint8"):
        run_node("QLinearMatMul", {}, inputs, [eight])
