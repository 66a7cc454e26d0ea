"""Literals of functions of one operand, and activations."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from rlx.conformance.literals.literal import Array, Literal

inf, nan, pi = math.inf, math.nan, math.pi
e = math.e
SIGMOID_1 = 0.731058578630005
TANH_1 = (e * e - 1) / (e * e + 1)


def f(*values: float) -> Array:
    """float32."""
    return np.array(values, np.float32)


def h(*values: float) -> Array:
    """float16."""
    return np.array(values, np.float16)


def i(*values: int) -> Array:
    """int32."""
    return np.array(values, np.int32)


CASES: list[Literal] = [
    ("Abs", {}, [f(-2, 3)], f(2, 3)),
    ("Neg", {}, [i(-2, 3)], i(2, -3)),
    ("Sign", {}, [f(-2, 0, 3)], f(-1, 0, 1)),
    ("Floor", {}, [f(-1.5, 1.5)], f(-2, 1)),
    ("Ceil", {}, [f(-1.5, 1.5)], f(-1, 2)),
    ("Round", {}, [f(0.5, 1.5, 2.5, -4.5, inf)], f(0, 2, 2, -4, inf)),
    ("Sqrt", {}, [f(4, 0, -1)], f(2, 0, nan)),
    ("Reciprocal", {}, [f(4, -0.5, 0)], f(0.25, -2, inf)),
    ("Reciprocal", {}, [np.array([4], ml_dtypes.bfloat16)], np.array([0.25], ml_dtypes.bfloat16)),
    ("Exp", {}, [f(0, 1, -inf)], f(1, e, 0)),
    ("Log", {}, [f(1, e, 0, -1)], f(0, 1, -inf, nan)),
    ("Erf", {}, [f(0, 1, -1, 30)], f(0, 0.84270079, -0.84270079, 1)),
    ("Erf", {}, [np.array([1.0, nan])], np.array([0.8427007929497149, nan])),
    ("Sin", {}, [f(0, pi / 2)], f(0, 1)),
    ("Cos", {}, [f(0, pi / 3)], f(1, 0.5)),
    ("Tan", {}, [f(0, pi / 4)], f(0, 1)),
    ("Asin", {}, [f(0, 1)], f(0, pi / 2)),
    ("Acos", {}, [f(1, 0)], f(0, pi / 2)),
    ("Atan", {}, [f(0, 1)], f(0, pi / 4)),
    ("Sinh", {}, [f(0, 1)], f(0, (e - 1 / e) / 2)),
    ("Cosh", {}, [f(0, 1)], f(1, (e + 1 / e) / 2)),
    ("Tanh", {}, [f(0, 1, 99)], f(0, TANH_1, 1)),
    ("Asinh", {}, [f(0, (e - 1 / e) / 2)], f(0, 1)),
    ("Acosh", {}, [f(1, (e + 1 / e) / 2)], f(0, 1)),
    ("Atanh", {}, [f(0, TANH_1)], f(0, 1)),
    ("BitwiseNot", {}, [np.array([5], np.uint8)], np.array([250], np.uint8)),
    ("IsNaN", {}, [f(1, nan, inf)], np.array([False, True, False])),
    ("IsInf", {}, [f(1, nan, inf, -inf)], np.array([False, False, True, True])),
    ("IsInf", {"detect_positive": 0}, [f(inf, -inf)], np.array([False, True])),
    ("IsInf", {"detect_negative": 0}, [f(inf, -inf)], np.array([True, False])),
    ("IsInf", {}, [np.array([inf, 1], ml_dtypes.float8_e5m2)], np.array([True, False])),
    ("Relu", {}, [f(-1, 0, 2)], f(0, 0, 2)),
    ("Relu", {}, [i(-1, 2)], i(0, 2)),
    ("LeakyRelu", {"alpha": 0.5}, [f(-2, 3)], f(-1, 3)),
    ("LeakyRelu", {"alpha": 2.0}, [h(-2, 3)], h(-4, 3)),
    ("ThresholdedRelu", {"alpha": 1.0}, [f(0.5, 1, 2)], f(0, 0, 2)),
    ("Elu", {"alpha": 2.0}, [f(-inf, 0, 3)], f(-2, 0, 3)),
    ("Selu", {"alpha": 2.0, "gamma": 3.0}, [f(-inf, 0, 1)], f(-6, 0, 3)),
    ("Celu", {"alpha": 2.0}, [f(-2, 0, 3)], f(2 * (1 / e - 1), 0, 3)),
    ("Sigmoid", {}, [f(0, 1, -inf, -200)], f(0.5, SIGMOID_1, 0, 0)),
    ("HardSigmoid", {"alpha": 0.5, "beta": 0.5}, [f(-3, 0.5, 3)], f(0, 0.75, 1)),
    ("HardSwish", {}, [f(-4, 3, 0)], f(0, 3, 0)),
    ("Swish", {}, [f(0, 1)], f(0, SIGMOID_1)),
    ("Swish", {"alpha": 0.5}, [f(0, 2)], f(0, 2 * SIGMOID_1)),
    ("SwiGLU", {}, [f(0, 1), f(5, 10)], f(0, 10 * SIGMOID_1)),
    ("Softplus", {}, [f(0, 100)], f(math.log(2), 100)),
    ("Softsign", {}, [f(1, -3)], f(0.5, -0.75)),
    ("Mish", {}, [f(0, 40)], f(0, 40)),
    ("Gelu", {}, [f(0, 1, -9)], f(0, 0.8413447, 0)),
    ("Gelu", {"approximate": "tanh"}, [f(0, 1)], f(0, 0.841192)),
    ("Shrink", {"lambd": 1.5, "bias": 0.5}, [f(-2, 0, 1, 3)], f(-1.5, 0, 0, 2.5)),
    ("Shrink", {"lambd": 1.5, "bias": 0.5}, [i(-2, 0, 3)], i(-1, 0, 2)),
    ("Clip", {}, [f(-2, 0.5, 3), np.float32(-1), np.float32(1)], f(-1, 0.5, 1)),
    ("Clip", {}, [f(1, 5), np.float32(4), np.float32(2)], f(2, 2)),
    ("Clip", {}, [i(-2, 3), None, np.int32(1)], i(-2, 1)),
    ("Clip", {}, [i(-2, 3), np.int32(0)], i(0, 3)),
    ("Clip", {}, [f(-2, 3)], f(-2, 3)),
]
