"""Attention and its relatives: literal results, and masks against ONNX's reference."""

from __future__ import annotations

import math

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

QUICK = settings(
    deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def f(values, dtype=np.float32):
    return np.array(values, dtype)


def n(*values):
    return np.array(values, np.int64)


EQUAL_KEYS = f([[[[0], [0]]]])
VALUES = f([[[[2], [4]]]])
QUERIES = f([[[[1], [1]]]])
LOG3 = math.log(3)
HEADS = {"q_num_heads": 2, "kv_num_heads": 1}
LINEAR = {"q_num_heads": 1, "kv_num_heads": 1, "scale": 1.0, "update_rule": "linear"}

CASES = [
    ("Attention", {}, [QUERIES, EQUAL_KEYS, VALUES], [f([[[[3], [3]]]])]),
    ("Attention", {}, [f([[[[1]]]]), f([[[[0], [LOG3]]]]), VALUES], [f([[[[3.5]]]])]),
    ("Attention", {"scale": 2.0}, [f([[[[0.5]]]]), f([[[[0], [LOG3]]]]), VALUES], [f([[[[3.5]]]])]),
    ("Attention", {"is_causal": 1}, [QUERIES, EQUAL_KEYS, VALUES], [f([[[[2], [3]]]])]),
    (
        "Attention",
        {},
        [QUERIES, EQUAL_KEYS, VALUES, np.array([[True, False], [False, False]])],
        [f([[[[2], [0]]]])],
    ),
    ("Attention", {}, [QUERIES, EQUAL_KEYS, VALUES, f([[0, LOG3], [0, 0]])], [f([[[[3.5], [3]]]])]),
    (
        "Attention",
        {},
        [f([[[[1]]]]), f([[[[0]]]]), f([[[[4]]]]), None, f([[[[0]]]]), f([[[[2]]]])],
        [f([[[[3]]]]), EQUAL_KEYS, VALUES],
    ),
    ("Attention", {}, [QUERIES, EQUAL_KEYS, VALUES, None, None, None, n(1)], [f([[[[2], [2]]]])]),
    (
        "Attention",
        {"left_window_size": 0, "right_window_size": 0},
        [QUERIES, EQUAL_KEYS, VALUES],
        [f([[[[2], [4]]]])],
    ),
    ("Attention", {"softcap": 1.0}, [f([[[[9]]]]), f([[[[99], [99]]]]), VALUES], [f([[[[3]]]])]),
    ("Attention", HEADS, [f([[[1, 2]]]), f([[[0], [0]]]), f([[[2], [4]]])], [f([[[3, 3]]])]),
    (
        "RotaryEmbedding",
        {},
        [f([[[[1, 2, 3, 4]]]]), f([[[0, 1]]]), f([[[1, 0]]])],
        [f([[[[-3, 2, 1, 4]]]])],
    ),
    (
        "RotaryEmbedding",
        {"interleaved": 1, "rotary_embedding_dim": 2},
        [f([[[[1, 2, 3]]]]), f([[0], [0]]), f([[5], [1]]), n([1])],
        [f([[[[-2, 1, 3]]]])],
    ),
    (
        "RotaryEmbedding",
        {"num_heads": 2},
        [f([[[1, 2, 3, 4]]], np.float16), f([[[0]]], np.float16), f([[[1]]], np.float16)],
        [f([[[-2, 1, -4, 3]]], np.float16)],
    ),
    (
        "LinearAttention",
        LINEAR,
        [f([[[1], [1]]]), f([[[2], [1]]]), f([[[3], [4]]])],
        [f([[[6], [10]]]), f([[[[10]]]])],
    ),
    (
        "LinearAttention",
        {**LINEAR, "update_rule": "gated"},
        [f([[[1]]]), f([[[2]]]), f([[[3]]]), f([[[[8]]]]), f([[[-math.log(2)]]])],
        [f([[[10]]]), f([[[[10]]]])],
    ),
    (
        "LinearAttention",
        {**LINEAR, "update_rule": "delta"},
        [f([[[1]]]), f([[[1]]]), f([[[3]]]), f([[[[8]]]]), None, f([[[0.5]]])],
        [f([[[5.5]]]), f([[[[5.5]]]])],
    ),
]


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_attention_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    for constants in ((), range(1, len(inputs))):
        results = run_node(operation, attributes, inputs, expected, constants)
        for found, wanted in zip(results, expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@st.composite
def attentions(draw):
    """Attributes and inputs of Attention with four dimensions."""
    random = np.random.default_rng(draw(st.integers(0, 99)))
    batch, groups, kv_heads = (
        draw(st.integers(1, 2)),
        draw(st.integers(1, 2)),
        draw(st.integers(1, 2)),
    )
    q_len, kv_len, past = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 2))

    def values(heads, length, size=3):
        return random.standard_normal((batch, heads, length, size)).astype(np.float32)

    inputs = [
        values(groups * kv_heads, q_len),
        values(kv_heads, kv_len),
        values(kv_heads, kv_len, 2),
    ]
    cache = draw(st.sampled_from(["none", "internal", "external"]))
    total = kv_len + past if cache == "internal" else kv_len
    mask = draw(st.sampled_from([None, "bool", "float"]))
    if mask is None:
        inputs.append(None)
    else:
        bias = random.standard_normal((q_len, total)).astype(np.float32)
        inputs.append(bias > 0 if mask == "bool" else bias)
    if cache == "internal":
        inputs += [values(kv_heads, past), values(kv_heads, past, 2)]
    if cache == "external":
        lens = [draw(st.integers(1, kv_len)) for _ in range(batch)]
        inputs += [None, None, np.array(lens, np.int64)]
    attributes = {
        "is_causal": draw(st.integers(0, 1)),
        "left_window_size": draw(st.integers(-1, 2)),
        "right_window_size": draw(st.integers(-1, 2)),
        "softcap": draw(st.sampled_from([0.0, 2.0])),
        "qk_matmul_output_mode": draw(st.integers(0, 3)),
    }
    if not attributes["qk_matmul_output_mode"]:
        attributes["softcap"] = 0.0  # the reference gives the capped scores for the raw ones
    return attributes, inputs, cache == "internal"


@QUICK
@given(attentions())
def test_attention_agrees_with_the_reference(run_node, case):
    attributes, inputs, cached = case
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    outputs = ["y", "k", "v", "qk"] if cached else ["y"]
    node = onnx.helper.make_node("Attention", names, outputs, **attributes)
    feeds = {name: x for name, x in zip(names, inputs, strict=True) if name}
    wanted = ReferenceEvaluator(node).run(None, feeds)
    found = run_node("Attention", attributes, inputs, wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
