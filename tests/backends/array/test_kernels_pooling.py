"""Poolings: literal results, and every parameter against onnxruntime."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

QUICK = settings(
    deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def f(values, dtype=np.float32):
    return np.array(values, dtype)


def line(*values, dtype=np.float32):
    """One image, one channel, one spatial dimension."""
    return np.array([[values]], dtype)


def n(*values):
    return line(*values, dtype=np.int64)


FOUR = f([[[[1, 2], [3, 4]]]])
NINE = f([[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]])
TWO_MAPS = f([[[[1, 5]], [[7, 3]]]])

CASES = [
    ("MaxPool", {"kernel_shape": [2]}, [line(1, 5, 3, 2)], [line(5, 5, 3)]),
    ("MaxPool", {"kernel_shape": [2], "strides": [2]}, [line(1, 5, 3, 2, 9)], [line(5, 3)]),
    (
        "MaxPool",
        {"kernel_shape": [2], "strides": [2], "ceil_mode": 1},
        [line(1, 5, 3, 2, 9)],
        [line(5, 3, 9)],
    ),
    ("MaxPool", {"kernel_shape": [2], "dilations": [2]}, [line(1, 5, 3, 2)], [line(3, 5)]),
    ("MaxPool", {"kernel_shape": [2], "pads": [1, 1]}, [line(-1, -5)], [line(-1, -1, -5)]),
    ("MaxPool", {"kernel_shape": [3], "auto_pad": "SAME_UPPER"}, [line(1, 5, 3)], [line(5, 5, 5)]),
    ("MaxPool", {"kernel_shape": [1], "pads": [1, 0]}, [line(3, 4)], [line(-np.inf, 3, 4)]),
    ("MaxPool", {"kernel_shape": [2, 2]}, [NINE], [f([[[[5, 6], [8, 9]]]])]),
    (
        "MaxPool",
        {"kernel_shape": [2], "pads": [1, 0]},
        [line(0, 9, dtype=np.uint8)],
        [line(0, 9, dtype=np.uint8)],
    ),
    (
        "MaxPool",
        {"kernel_shape": [2], "pads": [1, 0]},
        [line(-9, -8, dtype=np.int8)],
        [line(-9, -8, dtype=np.int8)],
    ),
    ("MaxPool", {"kernel_shape": [2]}, [line(1, 5, 5)], [line(5, 5), n(1, 1)]),
    (
        "MaxPool",
        {"kernel_shape": [1, 2]},
        [TWO_MAPS],
        [f([[[[5]], [[7]]]]), np.array([[[[1]], [[2]]]])],
    ),
    (
        "MaxPool",
        {"kernel_shape": [2, 2]},
        [NINE],
        [f([[[[5, 6], [8, 9]]]]), np.array([[[[4, 5], [7, 8]]]])],
    ),
    (
        "MaxPool",
        {"kernel_shape": [2, 2], "storage_order": 1},
        [NINE],
        [f([[[[5, 6], [8, 9]]]]), np.array([[[[4, 7], [5, 8]]]])],
    ),
    ("AveragePool", {"kernel_shape": [2]}, [line(1, 5, 3)], [line(3, 4)]),
    ("AveragePool", {"kernel_shape": [2], "pads": [1, 1]}, [line(1, 5)], [line(1, 3, 5)]),
    (
        "AveragePool",
        {"kernel_shape": [2], "pads": [1, 1], "count_include_pad": 1},
        [line(1, 5)],
        [line(0.5, 3, 2.5)],
    ),
    (
        "AveragePool",
        {"kernel_shape": [2], "strides": [2], "ceil_mode": 1, "count_include_pad": 1},
        [line(1, 5, 8)],
        [line(3, 8)],
    ),
    ("AveragePool", {"kernel_shape": [2, 2]}, [FOUR], [f([[[[2.5]]]])]),
    (
        "AveragePool",
        {"kernel_shape": [2]},
        [line(60000, 60000, dtype=np.float16)],
        [line(60000, dtype=np.float16)],
    ),
    ("LpPool", {"kernel_shape": [2]}, [line(3, -4, 0)], [line(5, 4)]),
    ("LpPool", {"kernel_shape": [2], "p": 1}, [line(3, -4, 1)], [line(7, 5)]),
    ("GlobalAveragePool", {}, [FOUR], [f([[[[2.5]]]])]),
    (
        "GlobalAveragePool",
        {},
        [f(np.ones((1, 1, 300)), ml_dtypes.bfloat16)],
        [line(1, dtype=ml_dtypes.bfloat16)],
    ),
    ("GlobalMaxPool", {}, [TWO_MAPS], [f([[[[5]], [[7]]]])]),
    ("GlobalLpPool", {}, [line(3, -4)], [line(5)]),
    ("GlobalLpPool", {"p": 1}, [line(3, -4)], [line(7)]),
]


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_pooling_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    for symbolic in (False, True):
        results = run_node(operation, attributes, inputs, expected, symbolic=symbolic)
        for found, wanted in zip(results, expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-6)


@st.composite
def poolings(draw):
    """Attributes and the shape of x; every window holds at least one element of the input."""
    axes = draw(st.integers(1, 3))
    kernel = [draw(st.integers(1, 3)) for _ in range(axes)]
    dilations = [draw(st.integers(1, 2)) for _ in range(axes)]
    attributes = {
        "kernel_shape": kernel,
        "strides": [draw(st.integers(1, 3)) for _ in range(axes)],
        "dilations": dilations,
        "ceil_mode": draw(st.integers(0, 1)),
        "pads": [draw(st.integers(0, k - 1)) for k in (*kernel, *kernel)],
    }
    assume(all(d == 1 for d in dilations) or not any(attributes["pads"]))
    sizes = [(k - 1) * d + draw(st.integers(1, 6)) for k, d in zip(kernel, dilations, strict=True)]
    return attributes, (draw(st.integers(1, 2)), draw(st.integers(1, 2)), *sizes)


def distinct(shape):
    """No two values are equal, so that the place of a maximum is certain."""
    count = int(np.prod(shape))
    values = np.random.default_rng(0).permutation(count).astype(np.float32)
    return values.reshape(shape) - count / 2


@pytest.mark.needs("onnxruntime")
@QUICK
@given(poolings(), st.integers(0, 1))
def test_max_pool_agrees_with_onnxruntime(run_node, run_onnxruntime, case, order):
    attributes, shape = case
    attributes, x = {**attributes, "storage_order": order}, distinct(shape)
    wanted = run_onnxruntime("MaxPool", attributes, [x], outputs=2)
    found = run_node("MaxPool", attributes, [x], wanted)
    (alone,) = run_node("MaxPool", attributes, [x], wanted[:1])
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])
    np.testing.assert_array_equal(alone, wanted[0])


@pytest.mark.needs("onnxruntime")
@QUICK
@given(poolings(), st.integers(0, 1))
def test_average_pool_agrees_with_onnxruntime(run_node, run_onnxruntime, case, include):
    attributes, shape = case
    attributes, x = {**attributes, "count_include_pad": include}, distinct(shape)
    (wanted,) = run_onnxruntime("AveragePool", attributes, [x])
    (found,) = run_node("AveragePool", attributes, [x], [wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(poolings(), st.sampled_from(["SAME_UPPER", "SAME_LOWER", "VALID"]))
def test_automatic_padding_agrees_with_onnxruntime(run_node, run_onnxruntime, case, auto_pad):
    attributes, shape = case
    # onnxruntime forgets dilations here, and refuses windows that leave pixels out
    steps = zip(attributes["kernel_shape"], attributes["strides"], strict=True)
    assume(all(d == 1 for d in attributes["dilations"]) and all(k >= s for k, s in steps))
    attributes = {k: v for k, v in attributes.items() if k not in ("pads", "ceil_mode")}
    attributes, x = {**attributes, "auto_pad": auto_pad}, distinct(shape)
    (wanted,) = run_onnxruntime("MaxPool", attributes, [x])
    (found,) = run_node("MaxPool", attributes, [x], [wanted])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(poolings(), st.integers(1, 3))
def test_lp_pool_agrees_with_onnxruntime(run_node, run_onnxruntime, case, p):
    attributes, shape = case
    attributes, x = {**attributes, "p": p}, distinct(shape)
    (wanted,) = run_onnxruntime("LpPool", attributes, [x])
    (found,) = run_node("LpPool", attributes, [x], [wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
