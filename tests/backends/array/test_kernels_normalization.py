"""Normalizations and softmax: literal results, dtypes, and agreement with ONNX's reference."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

BF16 = ml_dtypes.bfloat16
E1, E3 = math.exp(1), math.exp(3)
QUICK = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def f(values, dtype=np.float32):
    return np.array(values, dtype)


def line(*values, dtype=np.float32):
    """One image, one channel, one spatial dimension."""
    return f([[values]], dtype)


PAIR = f([[1, 3]])
MAPS = f([[[1], [2], [4]]])
EXACT = {"epsilon": 0.0}

CASES = [
    ("Softmax", {}, [f([[0, 0], [1000, 1000]])], [f([[0.5, 0.5], [0.5, 0.5]])]),
    ("Softmax", {"axis": 0}, [f([[0, 1], [0, 1]])], [f([[0.5, 0.5], [0.5, 0.5]])]),
    ("Softmax", {}, [PAIR], [f([[E1 / (E1 + E3), E3 / (E1 + E3)]])]),
    ("Softmax", {}, [f([[1, 1]], BF16)], [f([[0.5, 0.5]], BF16)]),
    ("Softmax", {}, [np.zeros((2, 0), np.float32)], [np.zeros((2, 0), np.float32)]),
    ("LogSoftmax", {}, [f([[0, 0]])], [f([[-math.log(2)] * 2])]),
    ("LogSoftmax", {}, [f([[0, 2000]])], [f([[-2000, 0]])]),
    ("Hardmax", {}, [f([[1, 3, 3]])], [f([[0, 1, 0]])]),
    ("Hardmax", {"axis": 0}, [f([[1, 3], [2, 3]], np.float16)], [f([[0, 1], [1, 0]], np.float16)]),
    (
        "BatchNormalization",
        EXACT,
        [line(1, 2, 3), f([10]), f([5]), f([2]), f([4])],
        [line(0, 5, 10)],
    ),
    (
        "BatchNormalization",
        EXACT,
        [f([[1, 1]], np.float64), *(f(v, np.float64) for v in ([1, 2], [0, 1], [0, 0], [1, 4]))],
        [f([[1, 2]], np.float64)],
    ),
    (
        "BatchNormalization",
        EXACT,
        [f([[2]], np.float16), f([1]), f([0]), f([1]), f([1])],
        [f([[1]], np.float16)],
    ),
    (
        "BatchNormalization",
        {"epsilon": 0.0, "training_mode": 1, "momentum": 0.5},
        [f([[1], [3]]), f([1]), f([0]), f([4]), f([3])],
        [f([[-1], [1]]), f([3]), f([2])],
    ),
    (
        "LRN",
        {"size": 3, "alpha": 3.0, "beta": 1.0, "bias": 1.0},
        [MAPS],
        [f([[[1 / 6], [2 / 22], [4 / 21]]])],
    ),
    (
        "LRN",
        {"size": 2, "alpha": 2.0, "beta": 1.0, "bias": 0.0},
        [MAPS],
        [f([[[1 / 5], [2 / 20], [4 / 16]]])],
    ),
    (
        "LRN",
        {"size": 1, "alpha": 1.0, "beta": 0.75, "bias": 0.0},
        [MAPS],
        [f([[[1], [2**-0.5], [0.5]]])],
    ),
    ("LRN", {"size": 1, "alpha": 1.0, "beta": 0.5, "bias": 0.0}, [MAPS], [f([[[1], [1], [1]]])]),
    ("LayerNormalization", EXACT, [PAIR, f([10, 100]), f([1, 1])], [f([[-9, 101]])]),
    (
        "LayerNormalization",
        EXACT,
        [PAIR, f([1, 1])],
        [f([[-1, 1]]), f([[2]]), f([[1]])],
    ),
    (
        "LayerNormalization",
        {"axis": 0, **EXACT},
        [f([[1], [3]], np.float16), f([[1], [1]], np.float16)],
        [f([[-1], [1]], np.float16), f([[2]]), f([[1]])],
    ),
    ("RMSNormalization", EXACT, [f([[3, 4]]), f([math.sqrt(12.5)])], [f([[3, 4]])]),
    (
        "GroupNormalization",
        {"num_groups": 2, **EXACT},
        [f([[[1], [3], [10], [20]]]), f([1, 2, 1, 1]), f([0, 0, 5, 0])],
        [f([[[-1], [2], [4], [1]]])],
    ),
    (
        "InstanceNormalization",
        EXACT,
        [f([[[1, 3], [0, 8]]]), f([1, 2]), f([0, 5])],
        [f([[[-1, 1], [3, 7]]])],
    ),
    ("MeanVarianceNormalization", {"axes": [1]}, [PAIR], [f([[-1, 1]])]),
    ("LpNormalization", {}, [f([[3, 4], [0, 0]])], [f([[0.6, 0.8], [0, 0]])]),
    ("LpNormalization", {"p": 1, "axis": 0}, [f([[1], [-3]])], [f([[0.25], [-0.75]])]),
]


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_normalization_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    for results in (
        run_node(operation, attributes, inputs, expected),
        run_node(operation, attributes, inputs, expected, range(1, len(inputs)), symbolic=True),
    ):
        for found, wanted in zip(results, expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-6)


def reference(operation, attributes, inputs):
    """What ONNX's reference makes of it."""
    names = [f"x{i}" for i in range(len(inputs))]
    node = onnx.helper.make_node(operation, names, ["y"], **attributes)
    return ReferenceEvaluator(node).run(None, dict(zip(names, inputs, strict=True)))[0]


@QUICK
@given(
    st.integers(1, 9),
    st.integers(1, 6),
    st.sampled_from([0.3, 0.5, 0.75, 1.0]),
    st.integers(0, 2),
)
def test_lrn_agrees_with_the_reference(run_node, size, channels, beta, axes):
    x = np.random.default_rng(0).standard_normal((2, channels, *(3,) * axes)).astype(np.float32)
    attributes = {"size": size, "beta": beta, "alpha": 0.5}
    low, high = (size - 1) // 2, size // 2
    squares = [
        (x[:, max(0, c - low) : c + high + 1] ** 2).sum(1, keepdims=True) for c in range(channels)
    ]
    wanted = x / (1 + 0.5 / size * np.concatenate(squares, 1)) ** beta
    (found,) = run_node("LRN", attributes, [x], [x])
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@QUICK
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_softmax_agrees_with_the_reference(run_node, shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for operation in ("Softmax", "LogSoftmax", "Hardmax"):
        wanted = reference(operation, {"axis": axis}, [x])
        (found,) = run_node(operation, {"axis": axis}, [x], [x])
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_inputs_are_not_written_to(run_node):
    x, one = f([[[1, 2], [3, 4]]]), f([1, 1])
    before = x.copy()
    run_node("BatchNormalization", {}, [x, one, one, one, one], [x])
    run_node("InstanceNormalization", {}, [x, one, one], [x])
    np.testing.assert_array_equal(x, before)
