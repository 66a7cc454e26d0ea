"""Attention, its masks and the rotary embedding give the numbers of their formulas."""

import math

import numpy as np
import pytest

import rlx

BACKENDS = ["numpy", pytest.param("onnxruntime-cpu", marks=pytest.mark.needs("onnxruntime"))]
KINDS = {
    "none": lambda i, j: True,
    "causal": lambda i, j: j <= i,
    "sliding:2": lambda i, j: i - 2 <= j <= i,
    "Sliding:0": lambda i, j: i == j,
}


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


def attention(q, k, v, keep):
    """On [batch, heads, length, head_dim]; `keep` broadcasts to [batch, heads, queries, keys]."""
    repeats = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, repeats, 1), np.repeat(v, repeats, 1)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    scores = np.where(keep, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v


def joined(x):
    """[batch, heads, length, head_dim] as [batch, length, heads·head_dim]."""
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["split", "joined"])
def test_attention_by_the_kind_of_its_mask(outputs, numbers, backend, kind, form):
    q, k, v = numbers(2, 4, 5, 8), numbers(2, 2, 5, 8), numbers(2, 2, 5, 8)
    keep = np.array([[KINDS[kind](i, j) for j in range(5)] for i in range(5)])
    wanted = attention(q, k, v, keep)
    build = lambda g, *given: g.attention_kind(*given, 4, 8, kind)  # noqa: E731
    if form == "split":
        close(outputs(backend, build, q, k, v)[0], wanted)
    else:
        close(outputs(backend, build, joined(q), joined(k), joined(v))[0], joined(wanted))


@pytest.mark.parametrize("backend", BACKENDS)
def test_causal_queries_see_the_first_keys_where_there_are_more_keys(outputs, numbers, backend):
    q, k, v = numbers(1, 2, 3, 4), numbers(1, 2, 5, 4), numbers(1, 2, 5, 4)
    keep = np.arange(5)[None, :] <= np.arange(3)[:, None]
    build = lambda g, *given: g.attention_kind(*given, 2, 4, "causal")  # noqa: E731
    close(outputs(backend, build, q, k, v)[0], attention(q, k, v, keep))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "bool", "int64"])
@pytest.mark.parametrize("form", ["split", "joined"])
def test_attention_leaves_out_the_keys_that_the_mask_leaves_out(
    outputs, numbers, backend, dtype, form
):
    q, k, v = numbers(2, 2, 3, 4), numbers(2, 2, 5, 4), numbers(2, 2, 5, 4)
    mask = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]]).astype(dtype)
    wanted = attention(q, k, v, mask.astype(bool)[:, None, None, :])
    build = lambda g, *given: g.attention(*given, 2, 4)  # noqa: E731
    if form == "split":
        close(outputs(backend, build, q, k, v, mask)[0], wanted)
    else:
        close(outputs(backend, build, joined(q), joined(k), joined(v), mask)[0], joined(wanted))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_mask_may_differ_by_query(outputs, numbers, backend):
    q, k, v = numbers(2, 2, 3, 4), numbers(2, 2, 5, 4), numbers(2, 2, 5, 4)
    mask = np.arange(5)[None, None, None, :] <= np.arange(3)[None, None, :, None] + 1
    build = lambda g, *given: g.attention(*given, 2, 4)  # noqa: E731
    close(outputs(backend, build, q, k, v, mask)[0], attention(q, k, v, mask))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("form", ["split", "joined"])
@pytest.mark.parametrize("batched", [False, True])
def test_the_rotary_embedding_turns_halves(outputs, numbers, backend, form, batched):
    x, angle = numbers(2, 3, 5, 8), numbers(5, 4)
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[..., :4], x[..., 4:]
    wanted = np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
    if batched:
        cos, sin = np.stack([cos, cos]), np.stack([sin, sin])
    build = lambda g, *given: g.rope(*given, 8)  # noqa: E731
    if form == "split":
        close(outputs(backend, build, x, cos, sin)[0], wanted)
    else:
        close(outputs(backend, build, joined(x), cos, sin)[0], joined(wanted))


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_that_vary_are_read_at_run_time(numbers, backend):
    g = rlx.Graph("varying")
    q = g.input("q", ("batch", 2, "queries", 4), "f32")
    kv = g.input("kv", ("batch", 2, "keys", 4), "f32")
    mask = g.input("mask", ("batch", "keys"), "bool")
    tables = [g.input(name, ("queries", 2), "f32") for name in ("cos", "sin")]
    g.set_outputs([g.attention(q, kv, kv, mask, 2, 4), g.rope(q, *tables, 4)])
    keep, angle = np.array([[True, False, True]]), numbers(5, 2)
    given = {"q": numbers(1, 2, 5, 4), "kv": numbers(1, 2, 3, 4), "mask": keep}
    with rlx.Session(backend=backend) as session, session.compile(g) as model:
        seen, turned = model.run(given | {"cos": np.cos(angle), "sin": np.sin(angle)})
    close(seen, attention(given["q"], given["kv"], given["kv"], keep[:, None, None, :]))
    a, b = given["q"][..., :2], given["q"][..., 2:]
    cos, sin = np.cos(angle), np.sin(angle)
    close(turned, np.concatenate([a * cos - b * sin, b * cos + a * sin], -1))
