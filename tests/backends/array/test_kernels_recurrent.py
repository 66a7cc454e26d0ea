"""RNN, GRU and LSTM: literal steps, and every attribute against onnxruntime."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

QUICK = settings(
    deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def f(values, dtype=np.float32):
    return np.array(values, dtype)


def ones(*shape):
    return np.ones(shape, np.float32)


LINEAR = {"hidden_size": 1, "activations": ["Affine"], "activation_alpha": [1.0]}
STEPS = f([[[1]], [[2]], [[4]]])
"""Three steps of one example with one value."""
INT32 = np.int32

CASES = [
    (
        "RNN",
        LINEAR,
        [STEPS, ones(1, 1, 1), ones(1, 1, 1)],
        [f([[[[1]]], [[[3]]], [[[7]]]]), f([[[7]]])],
    ),
    (
        "RNN",
        {**LINEAR, "direction": "reverse"},
        [STEPS, ones(1, 1, 1), ones(1, 1, 1)],
        [f([[[[7]]], [[[6]]], [[[4]]]]), f([[[7]]])],
    ),
    (
        "RNN",
        {"hidden_size": 1, "activations": ["Relu", "Relu"], "direction": "bidirectional"},
        [STEPS, ones(2, 1, 1), ones(2, 1, 1)],
        [f([[[[1]], [[7]]], [[[3]], [[6]]], [[[7]], [[4]]]]), f([[[7]], [[7]]])],
    ),
    (
        "RNN",
        LINEAR,
        [STEPS, ones(1, 1, 1), ones(1, 1, 1), f([[10, 20]]), None, f([[[100]]])],
        [f([[[[131]]], [[[163]]], [[[197]]]]), f([[[197]]])],
    ),
    (
        "RNN",
        LINEAR,
        [STEPS, ones(1, 1, 1), ones(1, 1, 1), None, np.array([2], INT32)],
        [f([[[[1]]], [[[3]]], [[[0]]]]), f([[[3]]])],
    ),
    (
        "RNN",
        {**LINEAR, "layout": 1},
        [f([[[1], [2]]]), ones(1, 1, 1), ones(1, 1, 1)],
        [f([[[[1]], [[3]]]]), f([[[3]]])],
    ),
    (
        "RNN",
        {**LINEAR, "clip": 3.0},
        [STEPS, ones(1, 1, 1), ones(1, 1, 1)],
        [f([[[[1]]], [[[3]]], [[[3]]]])],
    ),
    (
        "RNN",
        {"hidden_size": 1},
        [f([[[0.5]]], np.float64), f([[[1]]], np.float64), f([[[1]]], np.float64)],
        [f([[[[math.tanh(0.5)]]]], np.float64)],
    ),
    (
        "GRU",
        {"hidden_size": 1, "activations": ["HardSigmoid", "Relu"]},
        [f([[[8]]]), f([[[0], [0], [1]]]), f([[[0], [0], [1]]]), None, None, f([[[4]]])],
        [f([[[[7]]]]), f([[[7]]])],
    ),
    (
        "GRU",
        {"hidden_size": 1, "activations": ["HardSigmoid", "Relu"], "linear_before_reset": 1},
        [
            f([[[8]]]),
            f([[[0], [0], [1]]]),
            f([[[0], [0], [1]]]),
            f([[0, 0, 0, 0, 0, 2]]),
            None,
            f([[[4]]]),
        ],
        [f([[[[7.5]]]])],
    ),
    (
        "LSTM",
        {"hidden_size": 1, "activations": ["HardSigmoid", "Relu", "Relu"]},
        [f([[[8]]]), f([[[0], [0], [0], [1]]]), np.zeros((1, 4, 1), np.float32)],
        [f([[[[2]]]]), f([[[2]]]), f([[[4]]])],
    ),
    (
        "LSTM",
        {"hidden_size": 1, "activations": ["HardSigmoid", "Relu", "Relu"]},
        [
            f([[[8]]]),
            f([[[0], [0], [0], [1]]]),
            np.zeros((1, 4, 1), np.float32),
            None,
            None,
            None,
            f([[[2]]]),
            f([[0.25, 9, -9]]),
        ],
        [f([[[[4.8]]]]), f([[[4.8]]]), f([[[4.8]]])],
    ),
]  # the gates are half open: HardSigmoid(0) = 0.5


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_sequence_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    for results in (
        run_node(operation, attributes, inputs, expected),
        run_node(operation, attributes, inputs, expected, constants=(1, 2, 3, 7)),
    ):
        for found, wanted in zip(results, expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
PLAIN = [
    "Tanh",
    "Sigmoid",
    "Relu",
    "Softsign",
    "HardSigmoid",
    "LeakyRelu",
    "ScaledTanh",
]


@st.composite
def sequences(draw):
    """An operation, its attributes and inputs that onnxruntime supports."""
    operation = draw(st.sampled_from(sorted(GATES)))
    direction = draw(st.sampled_from(["forward", "reverse", "bidirectional"]))
    directions = 2 if direction == "bidirectional" else 1
    steps, batch, size, hidden = (draw(st.integers(1, 3)) for _ in range(4))
    attributes = {"hidden_size": hidden, "direction": direction}
    if draw(st.booleans()):
        names = [draw(st.sampled_from(PLAIN)) for _ in range(FUNCTIONS[operation])]
        attributes["activations"] = names = names * directions
        alphas = [name for name in names if name in ("HardSigmoid", "LeakyRelu", "ScaledTanh")]
        betas = [name for name in names if name in ("HardSigmoid", "ScaledTanh")]
        for key, takers in (("activation_alpha", alphas), ("activation_beta", betas)):
            if takers:
                attributes[key] = [draw(st.sampled_from([0.25, 0.5, 0.75])) for _ in takers]
    if draw(st.booleans()):
        attributes["clip"] = 0.5
    if operation == "GRU":
        attributes["linear_before_reset"] = draw(st.integers(0, 1))
    if operation == "LSTM":
        attributes["input_forget"] = draw(st.integers(0, 1))
    random = np.random.default_rng(draw(st.integers(0, 9)))
    gates = GATES[operation] * hidden

    def values(*shape):
        return random.standard_normal(shape).astype(np.float32)

    state = (directions, batch, hidden)
    x, w, r = (
        values(steps, batch, size),
        values(directions, gates, size),
        values(directions, gates, hidden),
    )
    inputs = [x, w, r, values(directions, 2 * gates) if draw(st.booleans()) else None]
    lens = [draw(st.integers(1, steps)) for _ in range(batch)]
    inputs.append(np.array(lens, INT32) if draw(st.booleans()) else None)
    inputs.append(values(*state) if draw(st.booleans()) else None)
    if operation == "LSTM":
        inputs.append(values(*state) if draw(st.booleans()) else None)
        inputs.append(values(directions, 3 * hidden) if draw(st.booleans()) else None)
    return operation, attributes, inputs


@pytest.mark.needs("onnxruntime")
@QUICK
@given(sequences())
def test_recurrence_agrees_with_onnxruntime(run_node, run_onnxruntime, case):
    operation, attributes, inputs = case
    outputs = 3 if operation == "LSTM" else 2
    wanted = run_onnxruntime(operation, attributes, inputs, outputs)
    found = run_node(operation, attributes, inputs, wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_an_unknown_activation_is_refused(run_node):
    inputs = [STEPS, ones(1, 1, 1), ones(1, 1, 1)]
    message = r"activation 'Gelu'; known: relu, tanh, sigmoid"
    with pytest.raises(NotImplementedError, match=message):
        run_node("RNN", {"hidden_size": 1, "activations": ["Gelu"]}, inputs, [STEPS[None]])


def test_a_sequence_of_no_steps_keeps_the_first_state_apart(run_node):
    """The last state is the first one then, and still not the caller's memory."""
    x, w, r = (np.zeros(shape, np.float32) for shape in ((0, 1, 2), (1, 3, 2), (1, 3, 3)))
    first = np.ones((1, 1, 3), np.float32)
    inputs = [x, w, r, None, None, first]
    y, last = run_node("RNN", {"hidden_size": 3}, inputs, [np.zeros((0, 1, 1, 3), "f4"), first])
    assert y.shape == (0, 1, 1, 3)
    np.testing.assert_array_equal(last, first)
    assert not np.shares_memory(last, first)
