"""Signals, detection, losses and determinants: literal results."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

QUICK = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def f(values, dtype=np.float32):
    return np.array(values, dtype)


def n(*values):
    return np.array(values, np.int64)


def i(value):
    return np.array(value, np.int64)


def signal(*values):
    """One real signal."""
    return f([[[value] for value in values]])


def spectrum(*pairs):
    """One complex signal."""
    return f([[list(pair) for pair in pairs]])


LN2 = math.log(2)
BOXES = f([[[0, 0, 1, 1], [0, 0, 1, 1.1], [5, 5, 6, 6]]])
SCORES = f([[[0.5, 0.9, 0.1]]])
LOGS = f([[-1, -2], [-3, -4], [-5, -6]])
SCORE_ROWS = f([[0, 0], [0, 0]])
STEREO = n([0, 1])

CASES = [
    ("DFT", {}, [signal(1, 2)], [spectrum((3, 0), (-1, 0))]),
    ("DFT", {}, [signal(0, 1, 0, 0)], [spectrum((1, 0), (0, -1), (-1, 0), (0, 1))]),
    ("DFT", {"onesided": 1}, [signal(0, 1, 0, 0)], [spectrum((1, 0), (0, -1), (-1, 0))]),
    ("DFT", {}, [signal(1), i(2)], [spectrum((1, 0), (1, 0))]),
    ("DFT", {"inverse": 1}, [spectrum((3, 0), (-1, 0))], [spectrum((1, 0), (2, 0))]),
    ("DFT", {"inverse": 1, "onesided": 1}, [spectrum((3, 0), (-1, 0))], [signal(1, 2)]),
    ("DFT", {}, [f([[[1], [3]]]), None, i(0)], [spectrum((1, 0), (3, 0))]),
    (
        "STFT",
        {},
        [signal(1, 1, 2, 2), i(2), None, i(2)],
        [f([[[[2, 0], [0, 0]], [[4, 0], [0, 0]]]])],
    ),
    ("STFT", {"onesided": 0}, [signal(1, 3), i(1), f([1, 2])], [f([[[[7, 0], [-5, 0]]]])]),
    ("HannWindow", {}, [i(4)], [f([0, 0.5, 1, 0.5])]),
    ("HannWindow", {"periodic": 0}, [i(3)], [f([0, 1, 0])]),
    ("HammingWindow", {}, [i(2)], [f([4 / 46, 1])]),
    ("BlackmanWindow", {"output_datatype": 11}, [i(2)], [f([0, 1], np.float64)]),
    (
        "MelWeightMatrix",
        {},
        [i(2), i(8), i(8000), np.array(0, np.float32), np.array(4000, np.float32)],
        [f([[1, 0], [0, 1], [0, 0], [0, 0], [0, 0]])],
    ),
    ("NonMaxSuppression", {}, [BOXES, SCORES, n(9), f([0.5])], [n([0, 0, 1], [0, 0, 2])]),
    (
        "NonMaxSuppression",
        {},
        [BOXES, SCORES, n(9), f([0.95])],
        [n([0, 0, 1], [0, 0, 0], [0, 0, 2])],
    ),
    ("NonMaxSuppression", {}, [BOXES, SCORES, n(1), f([0.5])], [n([0, 0, 1])]),
    ("NonMaxSuppression", {}, [BOXES, SCORES, n(9), f([0.5]), f([0.4])], [n([0, 0, 1])]),
    ("NonMaxSuppression", {}, [BOXES, SCORES], [np.zeros((0, 3), np.int64)]),
    (
        "NonMaxSuppression",
        {"center_point_box": 1},
        [f([[[1, 1, 2, 2], [9, 9, 2, 2]]]), f([[[1, 2]]]), n(2)],
        [n([0, 0, 1], [0, 0, 0])],
    ),
    (
        "MaxUnpool",
        {"kernel_shape": [2], "strides": [2]},
        [f([[[5, 6]]]), n([[1, 2]])],
        [f([[[0, 5, 6, 0]]])],
    ),
    (
        "MaxUnpool",
        {"kernel_shape": [2], "strides": [2]},
        [f([[[5]]]), n([[1]]), n(1, 1, 4)],
        [f([[[0, 5, 0, 0]]])],
    ),
    ("Col2Im", {}, [f([[[1, 2], [3, 4]]]), n(3), n(2)], [f([[[1, 5, 4]]])]),
    (
        "Col2Im",
        {"pads": [1, 1], "strides": [2]},
        [f([[[1, 2], [3, 4]]]), n(2), n(2)],
        [f([[[3, 2]]])],
    ),
    ("CenterCropPad", {}, [f([1, 2, 3, 4]), n(2)], [f([2, 3])]),
    ("CenterCropPad", {}, [f([1, 2, 3, 4]), n(1)], [f([2])]),
    ("CenterCropPad", {"axes": [-1]}, [f([[1, 2]]), n(5)], [f([[0, 1, 2, 0, 0]])]),
    ("NegativeLogLikelihoodLoss", {}, [LOGS, n(0, 1, 1)], [f(11 / 3)]),
    ("NegativeLogLikelihoodLoss", {"reduction": "sum"}, [LOGS, n(0, 1, 1)], [f(11)]),
    ("NegativeLogLikelihoodLoss", {"reduction": "none"}, [LOGS, n(0, 1, 1)], [f([1, 4, 6])]),
    ("NegativeLogLikelihoodLoss", {"ignore_index": 1}, [LOGS, n(0, 1, 0)], [f(3)]),
    ("NegativeLogLikelihoodLoss", {"ignore_index": -9}, [LOGS, n(0, -9, 0), f([3, 1])], [f(3)]),
    ("NegativeLogLikelihoodLoss", {}, [LOGS, n(0, 1, 1), f([2, 1])], [f(12 / 4)]),
    ("SoftmaxCrossEntropyLoss", {}, [SCORE_ROWS, n(0, 1)], [f(LN2), f([[-LN2] * 2] * 2)]),
    ("SoftmaxCrossEntropyLoss", {"reduction": "sum"}, [SCORE_ROWS, n(0, 1)], [f(2 * LN2)]),
    (
        "SoftmaxCrossEntropyLoss",
        {"reduction": "none"},
        [f([[[0, 0], [0, 0]]]), STEREO, f([1, 3])],
        [f([[LN2, 3 * LN2]])],
    ),
    ("Det", {}, [f([[1, 2], [3, 4]])], [f(-2)]),
    ("Det", {}, [f([[[2]], [[3]]], np.float64)], [f([2, 3], np.float64)]),
    ("Det", {}, [f([[2, 0], [0, 3]], ml_dtypes.bfloat16)], [f(6, ml_dtypes.bfloat16)]),
]


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_result_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    for constants in ((), range(1, len(inputs))):
        results = run_node(operation, attributes, inputs, expected, constants)
        for found, wanted in zip(results, expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            found, wanted = found.astype(float), wanted.astype(float)
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@QUICK
@given(st.integers(1, 12), st.integers(0, 9))
def test_an_inverse_transform_gives_the_signal_back(run_node, length, seed):
    x = np.random.default_rng(seed).standard_normal((2, length, 2)).astype(np.float32)
    (forward,) = run_node("DFT", {}, [x], [x])
    (back,) = run_node("DFT", {"inverse": 1}, [forward], [x])
    np.testing.assert_allclose(back, x, rtol=1e-4, atol=1e-5)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(st.integers(0, 999), st.integers(0, 1), st.integers(1, 6))
def test_suppression_agrees_with_onnxruntime(run_node, run_onnxruntime, seed, centered, most):
    random = np.random.default_rng(seed)
    boxes = random.uniform(0, 4, (2, 12, 4)).astype(np.float32)
    scores = random.permutation(48).reshape(2, 2, 12).astype(np.float32)
    inputs = [boxes, scores, n(most), f([0.3]), f([9])]
    attributes = {"center_point_box": centered}
    (wanted,) = run_onnxruntime("NonMaxSuppression", attributes, inputs)
    (found,) = run_node("NonMaxSuppression", attributes, inputs, [wanted])
    np.testing.assert_array_equal(found, wanted)
