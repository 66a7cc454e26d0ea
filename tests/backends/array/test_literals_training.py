"""Optimizers and FlexAttention: one step, and one query, that a person can check."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from rlx.errors import ExecutionError

FLOAT = onnx.TensorProto.FLOAT
TRAINING = "ai.onnx.preview.training::"


def f(*values):
    return np.array(values, np.float32)


def scalar(value):
    return np.array(value, np.float32)


STEPS = [
    ("Adagrad", {"epsilon": 0.0}, [scalar(0.5), np.array(0), f(1), f(3), f(16)], [f(0.7), f(25)]),
    (
        "Adagrad",
        {"epsilon": 0.0, "decay_factor": 1.0, "norm_coefficient": 1.0},
        [scalar(0.5), np.array(1), f(1), f(2), f(16)],
        [f(0.85), f(25)],
    ),
    (
        "Momentum",
        {"alpha": 0.5, "beta": 0.1, "mode": "standard", "norm_coefficient": 0.0},
        [scalar(2), np.array(0), f(9), f(1), f(4)],
        [f(3), f(3)],
    ),
    (
        "Momentum",
        {"alpha": 0.5, "beta": 0.5, "mode": "standard", "norm_coefficient": 0.0},
        [scalar(2), np.array(1), f(9), f(2), f(4)],
        [f(3), f(3)],
    ),
    (
        "Momentum",
        {"alpha": 0.5, "beta": 0.1, "mode": "nesterov", "norm_coefficient": 1.0},
        [scalar(2), np.array(0), f(1), f(1), f(4)],
        [f(-7), f(4)],
    ),
    (
        "Adam",
        {"alpha": 0.5, "beta": 0.75, "epsilon": 0.0},
        [scalar(1), np.array(0), f(5), f(2), f(4), f(0)],
        [f(2), f(3), f(1)],
    ),
    (
        "Adam",
        {"alpha": 0.5, "beta": 0.75, "epsilon": 0.0, "norm_coefficient_post": 0.5},
        [scalar(1), np.array(1), f(5), f(2), f(4), f(0)],
        [f(1), f(3), f(1)],
    ),
]


@pytest.mark.parametrize("case", STEPS, ids=lambda case: f"{case[0]}-{len(case[1])}")
def test_one_step(case, run_typed):
    operation, attributes, inputs, expected = case
    found = run_typed(TRAINING + operation, attributes, inputs, [FLOAT] * len(expected))
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, strict=True)


def test_tensors_come_grouped_and_keep_their_dtypes(run_typed):
    wide = np.array([[1, 2]], np.float64)
    inputs = [scalar(0.5), np.array(0), f(1), wide, f(3), wide, f(16), wide]
    kinds = [FLOAT, onnx.TensorProto.DOUBLE] * 2
    x, y, g, h = run_typed(TRAINING + "Adagrad", {"epsilon": 0.0}, inputs, kinds)
    np.testing.assert_allclose(x, f(0.7), strict=True)
    np.testing.assert_allclose(g, f(25), strict=True)
    np.testing.assert_allclose(h, wide + wide**2, strict=True)
    np.testing.assert_allclose(y, wide - 0.5 * wide / np.sqrt(h), strict=True)


def test_a_tensor_without_its_gradient_is_an_error(run_typed):
    inputs = [scalar(0.5), np.array(0), f(1), f(3)]
    with pytest.raises(ExecutionError, match="2 tensors are no groups of 3"):
        run_typed(TRAINING + "Adagrad", {}, inputs, [FLOAT, FLOAT])


ATTENTION = """m (float[1,2,1,1] q, float[1,1,2,1] k, float[1,1,2,2] v) => (float[1,2,1,2] y) {
  y = ai.onnx.preview.FlexAttention <scale = 1.0 BODIES> (q, k, v)
}"""
SCORES = ", score_mod = s (float[B,H,L,S] x) => (float[B,H,L,S] z) { z = Mul(x, zero) }"
CHANCES = ", prob_mod = p (float[B,H,L,S] x) => (float[B,H,L,S] z) { z = Add(x, x) }"


def attend(run_text, bodies, constant=""):
    q = np.log(f(1, 2)).reshape(1, 2, 1, 1)
    k, v = f(0, 1).reshape(1, 1, 2, 1), f(1, 0, 0, 1).reshape(1, 1, 2, 2)
    text = ATTENTION.replace(" BODIES", bodies).replace("  y =", f"  {constant}y =")
    return run_text(text, q, k, v)[0].reshape(2, 2)


def test_heads_share_keys_and_values(run_text):
    found = attend(run_text, "")
    np.testing.assert_allclose(found, f([0.5, 0.5], [1 / 3, 2 / 3]), rtol=1e-6, strict=True)


def test_bodies_change_scores_and_chances_and_capture(run_text):
    zero = "zero = Constant <value_float = 0.0> () "
    found = attend(run_text, SCORES, zero)
    np.testing.assert_allclose(found, np.full((2, 2), 0.5, np.float32), rtol=1e-6, strict=True)
    found = attend(run_text, SCORES + CHANCES, zero)
    np.testing.assert_allclose(found, np.ones((2, 2), np.float32), rtol=1e-6, strict=True)


def test_heads_that_cannot_share_are_an_error(run_text):
    text = """m (float[1,H,1,1] q, float[1,K,1,1] k) => (float[1,H,1,1] y) {
      y = ai.onnx.preview.FlexAttention(q, k, k)
    }"""
    with pytest.raises(ExecutionError, match="3 heads of queries don't share 2 of keys evenly"):
        run_text(text, np.ones((1, 3, 1, 1), np.float32), np.ones((1, 2, 1, 1), np.float32))
