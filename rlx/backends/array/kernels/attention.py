"""Attention and RotaryEmbedding."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from rlx.backends.array.dtypes import CODES
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site

BEFORE_CAP, AFTER_CAP, WITH_BIAS, AFTER_SOFTMAX = range(4)
"""The values of qk_matmul_output_mode."""


def heads_first(xp: Any, x: Any, heads: int) -> Any:
    """(batch, sequence, heads · size) as (batch, heads, sequence, size)."""
    split = xp.reshape(x, (x.shape[0], x.shape[1], heads, x.shape[2] // heads))
    return xp.permute_dims(split, (0, 2, 1, 3))


def heads_last(xp: Any, x: Any) -> Any:
    """(batch, heads, sequence, size) as (batch, sequence, heads · size)."""
    turned = xp.permute_dims(x, (0, 2, 1, 3))
    return xp.reshape(turned, (*turned.shape[:2], turned.shape[2] * turned.shape[3]))


def softmax_of_masked(xp: Any, x: Any) -> Any:
    """Softmax along the last axis; a row that is masked as a whole becomes zeros."""
    top = xp.max(x, axis=-1, keepdims=True)
    y = xp.exp(x - xp.where(top == -inf, xp.zeros_like(top), top))
    total = xp.sum(y, axis=-1, keepdims=True)
    y /= xp.where(total == 0, xp.ones_like(total), total)
    return y


def band(xp: Any, q_len: int, kv_len: int, offset: Any, left: int, right: int) -> Any:
    """Which keys each query may see: from `left` before its place to `right` after, -1: all.

    A query's place is its index plus `offset`: a number, or one per batch, shaped (batch, 1, 1, 1).
    """
    place = xp.reshape(xp.arange(q_len, dtype=xp.int64), (-1, 1)) + offset
    ahead = xp.arange(kv_len, dtype=xp.int64) - place
    seen = xp.ones_like(ahead, dtype=xp.bool)
    if left >= 0:
        seen = seen & (ahead >= -left)
    if right >= 0:
        seen = seen & (ahead <= right)
    return seen


class Mask:
    """Makes what is added to the scores: 0 where a key may be seen, -inf where not, or a bias."""

    def __init__(self, site: Site):
        attributes = site.attributes
        self.xp = site.xp
        self.causal = bool(attributes.get("is_causal", 0))
        self.left = attributes.get("left_window_size", -1)
        self.right = attributes.get("right_window_size", -1)

    def __call__(
        self, q_len: int, kv_len: int, past: int, given: Any, valid: Any, like: Any
    ) -> Any:
        """The bias, or None where all is seen."""
        xp = self.xp
        bias = None if given is None else self._given(given, kv_len, like)
        offset: Any = past
        if valid is not None:
            offset = xp.reshape(valid, (-1, 1, 1, 1)) - q_len
        if self.causal:
            bias = self._hide(bias, band(xp, q_len, kv_len, offset, -1, 0), like)
        if self.left >= 0 or self.right >= 0:
            bias = self._hide(bias, band(xp, q_len, kv_len, offset, self.left, self.right), like)
        if valid is not None:
            inside = xp.arange(kv_len, dtype=xp.int64) < xp.reshape(valid, (-1, 1, 1, 1))
            bias = self._hide(bias, inside, like)
        return bias

    def _given(self, given: Any, kv_len: int, like: Any) -> Any:
        """The node's mask as a bias; keys that it leaves out are hidden."""
        xp = self.xp
        if given.dtype == xp.bool:
            bias = xp.where(given, xp.zeros((), dtype=like), xp.asarray(-inf, dtype=like))
        else:
            bias = xp.astype(given, like)
        short = kv_len - bias.shape[-1]
        if short > 0:
            bias = xp.concat((bias, xp.full((*bias.shape[:-1], short), -inf, dtype=like)), axis=-1)
        return bias

    def _hide(self, bias: Any, seen: Any, like: Any) -> Any:
        xp = self.xp
        start = xp.zeros((), dtype=like) if bias is None else bias
        return xp.where(seen, start, xp.asarray(-inf, dtype=like))


def product(xp: Any, a: Any, b: Any) -> Any:
    """A matrix product in float32, rounded to the operands' dtype."""
    return xp.astype(xp.matmul(xp.astype(a, xp.float32), xp.astype(b, xp.float32)), a.dtype)


def attention(site: Site) -> Kernel:
    """Build Attention; in bfloat16 each step is rounded, as the operation's definition says."""
    query = site.inputs[0]
    rounding = query is not None and query.dtype == "bfloat16"
    return _attention(site, rounding=True) if rounding else widened(_attention)(site)


def _attention(site: Site, *, rounding: bool = False) -> Kernel:
    xp, attributes = site.xp, site.attributes
    q_heads, kv_heads = attributes.get("q_num_heads", 0), attributes.get("kv_num_heads", 0)
    scale, cap = attributes.get("scale"), attributes.get("softcap", 0.0)
    mode = attributes.get("qk_matmul_output_mode", 0)
    code = attributes.get("softmax_precision")
    mask = Mask(site)
    shown = site.outputs > 3 and site.wanted[3]

    def run(
        q: Any,
        k: Any,
        v: Any,
        given: Any = None,
        past_key: Any = None,
        past_value: Any = None,
        valid: Any = None,
    ) -> Any:
        flat = q.ndim == 3
        if flat:
            q, k, v = (
                heads_first(xp, x, n) for x, n in ((q, q_heads), (k, kv_heads), (v, kv_heads))
            )
        past = 0
        if past_key is not None:
            past = past_key.shape[2]
            k, v = xp.concat((past_key, k), axis=2), xp.concat((past_value, v), axis=2)
        present_key, present_value = k, v
        groups = q.shape[1] // k.shape[1]
        if groups > 1:
            k, v = xp.repeat(k, groups, axis=1), xp.repeat(v, groups, axis=1)
        factor = 1 / sqrt(max(q.shape[3], 1)) if scale is None else scale
        if rounding:
            root = xp.asarray(sqrt(factor), dtype=q.dtype)
            scores = product(xp, q * root, xp.matrix_transpose(k) * root)
        else:
            scores = xp.matmul(q * factor, xp.matrix_transpose(k))
        qk = scores if mode == BEFORE_CAP else None
        if cap > 0:
            scores = xp.tanh(scores / cap) * cap
        if mode == AFTER_CAP:
            qk = scores
        bias = mask(q.shape[2], k.shape[2], past, given, valid, scores.dtype)
        if bias is not None:
            scores = scores + bias
        if mode == WITH_BIAS:
            qk = scores
        weights = softmax_of_masked(xp, scores if code is None else _as(site, scores, code))
        weights = xp.astype(weights, q.dtype, copy=False)
        if bias is not None:
            hidden = xp.max(bias, axis=-1, keepdims=True) == -inf
            weights = xp.where(hidden, xp.zeros((), dtype=weights.dtype), weights)
        y = product(xp, weights, v) if rounding else xp.matmul(weights, v)
        y = xp.astype(y, q.dtype, copy=False)
        y = heads_last(xp, y) if flat else y
        if site.outputs == 1:
            return y
        if shown and mode == AFTER_SOFTMAX:
            qk = weights
        return (y, present_key, present_value, qk)[: site.outputs]

    return run


def _as(site: Site, x: Any, code: int) -> Any:
    """The scores in softmax_precision; never in less than they have."""
    return site.xp.astype(x, site.dtype("float64")) if CODES[code] == "float64" else x


def rotary_embedding(site: Site) -> Kernel:
    """Build RotaryEmbedding."""
    xp, attributes = site.xp, site.attributes
    interleaved = bool(attributes.get("interleaved", 0))
    heads, turned = attributes.get("num_heads", 0), attributes.get("rotary_embedding_dim", 0)

    def run(x: Any, cos: Any, sin: Any, positions: Any = None) -> Any:
        flat = x.ndim == 3
        y = heads_first(xp, x, heads) if flat else x
        size = turned or y.shape[-1]
        if positions is not None:
            shape = (*positions.shape, cos.shape[-1])
            places = xp.reshape(positions, (-1,))
            cos = xp.reshape(xp.take(cos, places, axis=0), shape)
            sin = xp.reshape(xp.take(sin, places, axis=0), shape)
        cos, sin = cos[:, None, :, :], sin[:, None, :, :]
        part, rest = y[..., :size], y[..., size:]
        if interleaved:
            real, imaginary = part[..., 0::2], part[..., 1::2]
        else:
            real, imaginary = part[..., : size // 2], part[..., size // 2 :]
        new_real = cos * real - sin * imaginary
        new_imaginary = sin * real + cos * imaginary
        if interleaved:
            part = xp.reshape(xp.stack((new_real, new_imaginary), axis=-1), part.shape)
        else:
            part = xp.concat((new_real, new_imaginary), axis=-1)
        y = xp.concat((part, rest), axis=-1)
        return heads_last(xp, y) if flat else y

    return Fresh(run)


KERNELS: dict[str, Builder] = {
    "Attention": attention,
    "RotaryEmbedding": widened(rotary_embedding),
}
