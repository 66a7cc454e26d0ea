"""Fusion: scaling and shifting by channel after a Conv become part of the Conv's weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rlx.backends.array.host import NUMPY

if TYPE_CHECKING:
    from rlx.backends.array.draft import Draft, Op
    from rlx.backends.array.site import Array


@dataclass(frozen=True, slots=True)
class _Affine:
    """What an operation does to channel c of value `x`: x[c] * factor[c] + offset[c]."""

    x: str
    factor: Array
    offset: Array


def fuse(draft: Draft) -> None:
    """Absorb BatchNormalization, Mul and Add into the Conv or BatchNormalization before them.

    This is done wherever all that it takes is constant and nothing else needs the value between.
    The new weights are computed in float64 and rounded once, so results differ from the unfused
    ones by rounding only.
    """
    uses = Counter(name for op in draft.ops for name in op.inputs)
    uses.update(draft.outputs)
    makers: dict[str, Op] = {}
    kept: dict[str, Op] = {}
    for op in draft.ops:
        affine = _affine(draft, op)
        maker = makers.get(affine.x) if affine is not None else None
        if affine is not None and maker is not None and uses[affine.x] == 1:
            del kept[affine.x]
            op = _absorb(draft, maker, affine, op.outputs)
        if _absorbs(draft, op):
            makers[op.outputs[0]] = op
        kept[op.outputs[0] or op.name] = op
    draft.ops[:] = kept.values()


def _absorbs(draft: Draft, op: Op) -> bool:
    if op.operation == "Conv":
        return all(not name or _is_float(draft, name) for name in op.inputs[1:])
    return op.operation == "BatchNormalization" and _affine(draft, op) is not None


def _is_float(draft: Draft, name: str) -> bool:
    constant = draft.constants.get(name)
    return constant is not None and constant.dtype in (NUMPY.xp.float32, NUMPY.xp.float64)


def _affine(draft: Draft, op: Op) -> _Affine | None:
    """The operation as factors and offsets, if it is that."""
    if op.operation == "BatchNormalization":
        return _normalization(draft, op)
    if op.operation not in {"Mul", "Add"} or len(op.inputs) != 2:
        return None
    for x, other in (op.inputs, op.inputs[::-1]):
        if _is_float(draft, other) and x not in draft.constants:
            values = _by_channel(draft, x, draft.constants[other])
            if values is not None:
                ones, zeros = NUMPY.xp.ones_like(values), NUMPY.xp.zeros_like(values)
                scales = op.operation == "Mul"
                return _Affine(x, *((values, zeros) if scales else (ones, values)))
    return None


def _by_channel(draft: Draft, name: str, constant: Array) -> Array | None:
    """The constant as one float64 for each channel of the value, if it is constant on each."""
    xp = NUMPY.xp
    known = draft.types.get(name)
    if known is None or known.shape is None or len(known.shape) < 2 or constant.ndim > known.ndim:
        return None
    channels = known.shape[1]
    if not isinstance(channels, int) or constant.size not in (1, channels):
        return None
    sizes = (1,) * (len(known.shape) - constant.ndim) + tuple(constant.shape)
    if sizes[1] != constant.size:
        return None
    flat = xp.reshape(xp.astype(constant, xp.float64), (-1,))
    return xp.broadcast_to(flat, (channels,))


def _normalization(draft: Draft, op: Op) -> _Affine | None:
    """BatchNormalization as factors and offsets, unless it is training or not constant."""
    xp = NUMPY.xp
    if op.attributes.get("training_mode", 0) or len(op.outputs) != 1:
        return None
    if not all(_is_float(draft, name) for name in op.inputs[1:]):
        return None
    if len({draft.constants[name].shape for name in op.inputs[1:]}) > 1:
        return None  # the run says so
    scale, shift, mean, variance = (
        xp.astype(draft.constants[name], xp.float64) for name in op.inputs[1:5]
    )
    factor = scale / xp.sqrt(variance + op.attributes.get("epsilon", 1e-5))
    return _Affine(op.inputs[0], factor, shift - mean * factor)


def _absorb(draft: Draft, maker: Op, affine: _Affine, outputs: tuple[str, ...]) -> Op:
    """The maker of `affine.x`, doing the affine operation as well."""
    xp, held = NUMPY.xp, draft.constants
    first = held[maker.inputs[1]]
    column = xp.reshape(affine.factor, (-1,) + (1,) * (first.ndim - 1))
    scaled = xp.astype(first, xp.float64) * column
    offset = affine.offset
    if len(maker.inputs) > 2:
        offset = xp.astype(held[maker.inputs[2]], xp.float64) * affine.factor + offset
    names = tuple(f"{outputs[0]}/{part}" for part in ("scaled", "shifted"))
    for name, value in zip(names, (scaled, offset), strict=True):
        held[name] = xp.astype(value, first.dtype)
        draft.types[name] = replace(draft.types[maker.inputs[1]], shape=tuple(value.shape))
    inputs = (maker.inputs[0], *names, *maker.inputs[3:])
    return replace(maker, inputs=inputs, outputs=outputs, own=len(inputs))
