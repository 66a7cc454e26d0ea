"""FlexAttention: attention whose scores and probabilities a program may change by subgraphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rlx.backends.array.dtypes import CODES, native
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

Change = Callable[[Array], Array]


def flex_attention(
    site: Site,
) -> Callable[[Sequence[Array], Change | None, Change | None], Array]:
    """`attend((q, k, v), score_mod, prob_mod)`; the changes see the softmax's dtype.

    q is (batch, heads, queries, size), k and v (batch, kv heads, keys, size). Half-precision
    operands are multiplied in float32.

    Raises:
        NotImplementedError: the operands' dtype is unknown.
    """
    xp = site.xp
    first = site.inputs[0]
    if first is None or not first.dtype:
        raise NotImplementedError("the operands' dtype is unknown")
    code = site.attributes.get("softmax_precision")
    chosen = "float64" if first.dtype == "float64" else "float32"
    precise = native(xp, chosen if code is None else CODES[code])
    wide = native(xp, chosen)
    scale = site.attributes.get("scale")

    def attend(operands: Sequence[Array], score: Change | None, prob: Change | None) -> Array:
        q, k, v = operands
        narrow = q.dtype
        batch, heads, queries, size = q.shape
        groups, keys = k.shape[1], k.shape[2]
        if not groups or heads % groups:
            raise ValueError(f"{heads} heads of queries don't share {groups} of keys evenly")
        factor = math.sqrt(1 / math.sqrt(size) if scale is None else scale)
        split = (batch, groups, heads // groups, queries, size)
        q = xp.reshape(xp.astype(q, wide) * factor, split)
        k = xp.expand_dims(xp.astype(k, wide) * factor, axis=2)
        scores = xp.reshape(xp.matmul(q, xp.matrix_transpose(k)), (batch, heads, queries, keys))
        scores = xp.astype(scores, precise)
        if score is not None:
            scores = score(scores)
        powers = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
        probs = powers / xp.sum(powers, axis=-1, keepdims=True)
        if prob is not None:
            probs = prob(probs)
        weights = xp.reshape(xp.astype(probs, wide), (batch, groups, -1, queries, keys))
        y = xp.matmul(weights, xp.expand_dims(xp.astype(v, wide), axis=2))
        return xp.astype(xp.reshape(y, (batch, heads, queries, v.shape[3])), narrow)

    return attend


def _plain(site: Site) -> Kernel:
    attend = flex_attention(site)
    return Fresh(lambda q, k, v: attend((q, k, v), None, None))


KERNELS: dict[str, Builder] = {"ai.onnx.preview::FlexAttention": _plain}
