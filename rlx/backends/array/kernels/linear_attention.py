"""LinearAttention: a state that is decayed, corrected, written and read, step by step."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.attention import heads_first, heads_last
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site

RULES = ("linear", "gated", "delta", "gated_delta")


def linear_attention(site: Site) -> Kernel:
    """Build LinearAttention; it is computed in float32."""
    xp, attributes = site.xp, site.attributes
    q_heads, kv_heads = attributes["q_num_heads"], attributes["kv_num_heads"]
    rule = attributes.get("update_rule", "gated_delta")
    if rule not in RULES:
        raise NotImplementedError(f"LinearAttention: update_rule {rule!r}; known: {RULES}")
    scale = attributes.get("scale", 0.0)

    def run(q: Any, k: Any, v: Any, past: Any = None, decay: Any = None, beta: Any = None) -> Any:
        state_dtype = q.dtype if past is None else past.dtype
        q, k, v = (heads_first(xp, x, n) for x, n in ((q, q_heads), (k, kv_heads), (v, kv_heads)))
        state = past
        if state is None:
            state = xp.zeros((k.shape[0], kv_heads, k.shape[3], v.shape[3]), dtype=q.dtype)
        if decay is not None:
            decay = xp.exp(heads_first(xp, decay, kv_heads))
        if beta is not None:
            beta = heads_first(xp, beta, beta.shape[2])
        factor = scale or 1 / sqrt(max(k.shape[3], 1))
        outputs = []
        for t in range(q.shape[2]):
            key, value = k[:, :, t, :], v[:, :, t, :]
            if "gated" in rule:
                state = state * decay[:, :, t, :, None]
            if "delta" in rule:
                recalled = xp.matmul(key[:, :, None, :], state)[:, :, 0, :]
                value = beta[:, :, t, :] * (value - recalled)
            state = state + key[..., :, None] * value[..., None, :]
            shared = state
            if q_heads != kv_heads:
                shared = xp.repeat(state, q_heads // kv_heads, axis=1)
            outputs.append(xp.matmul(q[:, :, t, None, :], shared) * factor)
        if outputs:
            y = heads_last(xp, xp.concat(outputs, axis=2))
        else:
            y = xp.zeros((q.shape[0], 0, q_heads * v.shape[3]), dtype=q.dtype)
        return (y, xp.astype(state, state_dtype)) if site.outputs > 1 else y

    return Fresh(run)


KERNELS: dict[str, Builder] = {"LinearAttention": widened(linear_attention)}
