"""Literals of layers: convolution, pooling, normalization, recurrence, quantization, signals."""

from __future__ import annotations

from math import log, tanh
from typing import Any

import numpy as np

from rlx.conformance.literals.literal import Array, Literal


def f(values: Any) -> Array:
    """float32."""
    return np.array(values, np.float32)


def n(*values: int) -> Array:
    """int64."""
    return np.array(values, np.int64)


def u8(values: Any) -> Array:
    """uint8."""
    return np.array(values, np.uint8)


def i32(values: Any) -> Array:
    """int32."""
    return np.array(values, np.int32)


def texts(*values: str) -> Array:
    """Strings."""
    return np.array(values, dtype=object)


ONE, ZERO = f(1), u8(0)
SQUARE = f([[[[1, 2], [3, 4]]]])
PAIR, TRIPLE, WEIGHTS = f([[[1, 3]]]), f([[[1, 2, 3]]]), f([[[1, 10]]])
DOWN = np.array([[[[1, 1], [1, 1]], [[0, 0], [0, 0]]]], np.float32)
"""Offsets of a deformable convolution: one row down, no column to the right."""

LAYERS: list[Literal] = [
    ("Softmax", {}, [f([0, log(3)])], f([0.25, 0.75])),
    ("Softmax", {}, [f([1000, 1000])], f([0.5, 0.5])),
    ("LogSoftmax", {}, [f([0, log(3)])], f([log(0.25), log(0.75)])),
    ("Hardmax", {}, [f([1, 3, 3])], f([0, 1, 0])),
    ("Conv", {}, [TRIPLE, WEIGHTS], f([[[21, 32]]])),
    ("Conv", {"pads": [1, 0]}, [TRIPLE, WEIGHTS, f([100])], f([[[110, 121, 132]]])),
    ("ConvTranspose", {}, [f([[[1, 2]]]), WEIGHTS], f([[[1, 12, 20]]])),
    ("DeformConv", {}, [SQUARE, f([[[[2]]]]), DOWN], f([[[[6, 8], [0, 0]]]])),
    ("Col2Im", {}, [f([[[1, 2], [10, 20]]]), n(1, 3), n(1, 2)], f([[[[1, 12, 20]]]])),
    ("AveragePool", {"kernel_shape": [2]}, [f([[[1, 3, 5]]])], f([[[2, 4]]])),
    ("MaxPool", {"kernel_shape": [2]}, [f([[[1, 3, 5]]])], f([[[3, 5]]])),
    ("LpPool", {"kernel_shape": [2]}, [f([[[3, 4]]])], f([[[5]]])),
    ("GlobalAveragePool", {}, [PAIR], f([[[2]]])),
    ("GlobalMaxPool", {}, [PAIR], f([[[3]]])),
    (
        "MaxUnpool",
        {"kernel_shape": [2], "strides": [2]},
        [f([[[5]]]), np.array([[[1]]])],
        f([[[0, 5]]]),
    ),
    (
        "BatchNormalization",
        {"epsilon": 0.0},
        [PAIR, f([4]), f([1]), f([1]), f([4])],
        f([[[1, 5]]]),
    ),
    ("InstanceNormalization", {"epsilon": 0.0}, [PAIR, f([2]), f([1])], f([[[-1, 3]]])),
    ("LayerNormalization", {"epsilon": 0.0}, [PAIR, f([1, 1])], f([[[-1, 1]]])),
    (
        "GroupNormalization",
        {"epsilon": 0.0, "num_groups": 1},
        [f([[[1], [3]]]), f([1, 2]), f([0, 1])],
        f([[[-1], [3]]]),
    ),
    ("RMSNormalization", {"epsilon": 0.0}, [f([[1, 7]]), f([1, 1])], f([[0.2, 1.4]])),
    ("MeanVarianceNormalization", {}, [f([[[[1, 3]]]])], f([[[[-1, 1]]]])),
    ("LRN", {"size": 1, "alpha": 1.0, "beta": 1.0}, [f([[[[2]]]])], f([[[[0.4]]]])),
    ("LpNormalization", {}, [f([3, 4])], f([0.6, 0.8])),
    ("Det", {}, [f([[1, 2], [3, 4]])], f(-2)),
    ("Resize", {}, [f([[[[1, 2]]]]), None, f([1, 1, 1, 2])], f([[[[1, 1, 2, 2]]]])),
    ("GridSample", {}, [SQUARE, f([[[[0, 0]]]])], f([[[[2.5]]]])),
    ("AffineGrid", {}, [f([[[1, 0, 0], [0, 1, 0]]]), n(1, 1, 1, 2)], f([[[[-0.5, 0], [0.5, 0]]]])),
    ("CenterCropPad", {}, [f([1, 2, 3, 4, 5]), n(3)], f([2, 3, 4])),
    ("RoiAlign", {"sampling_ratio": 1}, [SQUARE, f([[0, 0, 2, 2]]), n(0)], f([[[[2.5]]]])),
    (
        "NonMaxSuppression",
        {},
        [f([[[0, 0, 1, 1], [0, 0, 1, 1]]]), f([[[0.9, 0.8]]]), n(2), f([0.5])],
        np.array([[0, 0, 0]]),
    ),
    ("Attention", {}, [f([[[[0]]]]), f([[[[1], [2]]]]), f([[[[1], [3]]]])], f([[[[2]]]])),
    ("RotaryEmbedding", {}, [f([[[[1, 0]]]]), f([[[0]]]), f([[[1]]])], f([[[[0, 1]]]])),
    ("NegativeLogLikelihoodLoss", {}, [f([[-1, -2]]), n(1)], f(2)),
    ("SoftmaxCrossEntropyLoss", {}, [f([[0, log(3)]]), n(1)], f(-log(0.75))),
]

RECURRENT: list[Literal] = [
    (
        "RNN",
        {"hidden_size": 1},
        [f([[[1]], [[0]]]), f([[[1]]]), f([[[1]]])],
        [f([[[[tanh(1)]]], [[[tanh(tanh(1))]]]]), f([[[tanh(tanh(1))]]])],
    ),
    (
        "GRU",
        {"hidden_size": 1},
        [f([[[0]]]), f([[[0]] * 3]).reshape(1, 3, 1), f([0] * 3).reshape(1, 3, 1),
         f([[0, 0, 1, 0, 0, 0]])],
        [f([[[[0.5 * tanh(1)]]]]), f([[[0.5 * tanh(1)]]])],
    ),
    (
        "LSTM",
        {"hidden_size": 1},
        [f([[[0]]]), f([0] * 4).reshape(1, 4, 1), f([0] * 4).reshape(1, 4, 1),
         f([[0, 0, 0, 1, 0, 0, 0, 0]])],
        [f([[[[0.5 * tanh(0.5 * tanh(1))]]]]), f([[[0.5 * tanh(0.5 * tanh(1))]]]),
         f([[[0.5 * tanh(1)]]])],
    ),
]  # fmt: skip

QUANTIZED: list[Literal] = [
    ("QuantizeLinear", {}, [f([0, 1, 3, 1000]), f(2), u8(10)], u8([10, 10, 12, 255])),
    ("DequantizeLinear", {}, [u8([10, 12]), f(2), u8(10)], f([0, 4])),
    ("DynamicQuantizeLinear", {}, [f([0, 255])], [u8([0, 255]), ONE, ZERO]),
    ("MatMulInteger", {}, [u8([[1, 2]]), u8([[3], [4]])], i32([[11]])),
    ("ConvInteger", {}, [u8([[[[1, 2, 3]]]]), u8([[[[1, 10]]]])], i32([[[[21, 32]]]])),
    (
        "QLinearMatMul",
        {},
        [u8([[1, 2]]), ONE, ZERO, u8([[3], [4]]), ONE, ZERO, ONE, ZERO],
        u8([[11]]),
    ),
    (
        "QLinearConv",
        {},
        [u8([[[[1, 2, 3]]]]), ONE, ZERO, u8([[[[1, 10]]]]), ONE, ZERO, ONE, ZERO],
        u8([[[[21, 32]]]]),
    ),
]

SIGNALS: list[Literal] = [
    ("DFT", {}, [f([[[1], [3]]])], f([[[4, 0], [-2, 0]]])),
    ("STFT", {}, [f([[[1], [3]]]), np.array(2), None, np.array(2)], f([[[[4, 0], [-2, 0]]]])),
    ("HannWindow", {}, [np.array(2)], f([0, 1])),
    ("HammingWindow", {}, [np.array(2)], f([4 / 46, 1])),
    ("BlackmanWindow", {}, [np.array(2)], f([0, 1])),
    (
        "MelWeightMatrix",
        {},
        [np.array(1), np.array(4), np.array(8), f(0), f(8)],
        f([[0], [1], [0.5]]),
    ),
]

STRINGS: list[Literal] = [
    ("StringConcat", {}, [texts("a", "é"), texts("b")], texts("ab", "éb")),
    ("StringNormalizer", {"case_change_action": "UPPER"}, [texts("ab")], texts("AB")),
    (
        "StringSplit",
        {},
        [texts("a b", "c")],
        [np.array([["a", "b"], ["c", ""]], dtype=object), n(2, 1)],
    ),
    ("RegexFullMatch", {"pattern": "a+"}, [texts("aa", "ab")], np.array([True, False])),
    (
        "TfIdfVectorizer",
        {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0,
         "ngram_counts": [0], "ngram_indexes": [0, 1], "pool_int64s": [1, 3]},
        [i32([1, 1, 3])],
        f([2, 1]),
    ),
    (
        "TfIdfVectorizer",
        {"mode": "TF", "min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 0,
         "ngram_counts": [0, 0], "ngram_indexes": [0], "pool_strings": ["a", "b"]},
        [texts("a", "b", "a")],
        f([1]),
    ),
    ("ai.onnx.ml::ArrayFeatureExtractor", {}, [f([[1, 2, 3]]), n(0, 2)], f([[1, 3]])),
    ("ai.onnx.ml::Binarizer", {"threshold": 1.0}, [f([0, 1, 2])], f([0, 0, 1])),
    (
        "ai.onnx.ml::LabelEncoder",
        {"keys_strings": ["a"], "values_int64s": [7], "default_int64": -1},
        [texts("a", "z")],
        n(7, -1),
    ),
]  # fmt: skip

PPM = b"P6 2 1 255\n" + bytes([255, 0, 0, 0, 0, 255])
"""An image of two pixels, red and blue."""
OTHERS: list[Literal] = [
    (
        "ImageDecoder",
        {},
        [np.frombuffer(PPM, np.uint8)],
        np.array([[[255, 0, 0], [0, 0, 255]]], np.uint8),
    ),
    (
        "ai.onnx.preview::FlexAttention",
        {},
        [f([[[[0]]]]), f([[[[7], [9]]]]), f([[[[1, 0], [0, 1]]]])],
        f([[[[0.5, 0.5]]]]),
    ),
]

CASES = LAYERS + RECURRENT + QUANTIZED + SIGNALS + STRINGS + OTHERS
