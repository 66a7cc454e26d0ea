"""Fusion: a BatchNormalization after a Conv becomes part of the Conv's weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.backends.array.draft import Draft, Op


def fuse(draft: Draft) -> None:
    """Scale the weights instead of the result, wherever all that it takes is constant.

    The new weights are computed in float64 and rounded once, so results differ from the unfused
    ones by rounding only.
    """
    uses = Counter(name for op in draft.ops for name in op.inputs)
    uses.update(draft.outputs)
    makers = {op.outputs[0]: op for op in draft.ops if op.operation == "Conv"}
    replaced: dict[str, Op | None] = {}
    for op in draft.ops:
        conv = makers.get(op.inputs[0]) if op.operation == "BatchNormalization" else None
        if conv is None or uses[conv.outputs[0]] != 1 or not _fusable(draft, conv, op):
            continue
        replaced[conv.outputs[0]] = None
        replaced[op.outputs[0]] = _fused(draft, conv, op)
    kept = (replaced.get(op.outputs[0], op) for op in draft.ops)
    draft.ops[:] = [op for op in kept if op is not None]


def _fusable(draft: Draft, conv: Op, norm: Op) -> bool:
    if norm.attributes.get("training_mode", 0) or len(norm.outputs) != 1:
        return False
    operands = (*conv.inputs[1:], *norm.inputs[1:])
    return all(not name or name in draft.constants for name in operands) and all(
        _is_float(draft, name) for name in operands if name
    )


def _is_float(draft: Draft, name: str) -> bool:
    xp = draft.xp
    return draft.constants[name].dtype in (xp.float32, xp.float64)


def _fused(draft: Draft, conv: Op, norm: Op) -> Op:
    xp, held = draft.xp, draft.constants
    weights = held[conv.inputs[1]]
    scale, shift, mean, variance = (xp.astype(held[name], xp.float64) for name in norm.inputs[1:5])
    factor = scale / xp.sqrt(variance + norm.attributes.get("epsilon", 1e-5))
    bias = held[conv.inputs[2]] if len(conv.inputs) > 2 else xp.zeros_like(mean)
    bias = (xp.astype(bias, xp.float64) - mean) * factor + shift
    column = xp.reshape(factor, (-1,) + (1,) * (weights.ndim - 1))
    names = tuple(f"{norm.outputs[0]}/{part}" for part in ("weights", "bias"))
    for name, value, like in ((names[0], weights * column, weights), (names[1], bias, weights)):
        held[name] = xp.astype(value, like.dtype)
        draft.types[name] = replace(draft.types[conv.inputs[1]], shape=tuple(value.shape))
    return replace(conv, inputs=(conv.inputs[0], *names), outputs=norm.outputs)
