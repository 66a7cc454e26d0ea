"""Sequences: Python lists of arrays, never changed in place."""

from __future__ import annotations

from typing import Any

from rlx.backends.array.kernels.operands import axis_within, ints
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

Sequence = list[Any]


def place(position: Array | None, length: int, *, insert: bool = False) -> int:
    """A position counted from the front; an omitted one is the last, or past it to insert.

    Raises:
        ValueError: the sequence has no such position.
    """
    last = length if insert else length - 1
    at = last if position is None else int(position.reshape(()))
    if not (-length <= at <= last and last >= 0):
        raise ValueError(f"position {at} is not in a sequence of {length}")
    return at + length if at < 0 else at


def _empty(_: Site) -> Kernel:
    return Fresh(list)


def _construct(_: Site) -> Kernel:
    return lambda *items: list(items)


def _at(_: Site) -> Kernel:
    return lambda sequence, position: sequence[place(position, len(sequence))]


def _insert(_: Site) -> Kernel:
    def insert(sequence: Sequence, item: Array, position: Array | None = None) -> Sequence:
        at = place(position, len(sequence), insert=True)
        return [*sequence[:at], item, *sequence[at:]]

    return insert


def _erase(_: Site) -> Kernel:
    def erase(sequence: Sequence, position: Array | None = None) -> Sequence:
        at = place(position, len(sequence))
        return [*sequence[:at], *sequence[at + 1 :]]

    return erase


def _length(site: Site) -> Kernel:
    xp = site.xp
    return Fresh(lambda sequence: xp.asarray(len(sequence), dtype=xp.int64))


def parts(size: int, split: Array | None) -> list[int]:
    """The lengths that `split` cuts `size` into: ones, equal chunks (the last may be less), or its
    own.

    Raises:
        ValueError: they don't add up to `size`, or are negative.
    """
    if split is None:
        return [1] * size
    lengths = ints(split)
    if split.ndim == 0:
        (length,) = lengths
        if length <= 0:
            raise ValueError(f"split is {length}, and chunks hold 1 or more")
        return [min(length, size - start) for start in range(0, size, length)]
    if sum(lengths) != size or any(length < 0 for length in lengths):
        raise ValueError(f"split {list(lengths)} does not add up to {size}")
    return list(lengths)


def _split(site: Site) -> Kernel:
    """`keepdims` counts only where `split` is left out; then 0 drops the axis of size 1."""
    axis = site.attributes.get("axis", 0)
    dropped = not site.attributes.get("keepdims", 1)

    def split(x: Array, lengths: Array | None = None) -> Sequence:
        at = axis_within(axis, x.ndim)
        found, start = [], 0
        before = (slice(None),) * at
        if lengths is None and dropped:
            return [x[(*before, i, ...)] for i in range(x.shape[at])]
        for length in parts(x.shape[at], lengths):
            found.append(x[(*before, slice(start, start + length))])
            start += length
        return found

    return split


def _concat(site: Site) -> Kernel:
    xp = site.xp
    axis = site.attributes["axis"]
    new = bool(site.attributes.get("new_axis", 0))

    def concat(sequence: Sequence) -> Array:
        if not sequence:
            raise ValueError("a sequence without items has nothing to concatenate")
        at = axis_within(axis, sequence[0].ndim + new)
        return xp.stack(sequence, axis=at) if new else xp.concat(sequence, axis=at)

    return Fresh(concat)


KERNELS: dict[str, Builder] = {
    "SequenceEmpty": _empty,
    "SequenceConstruct": _construct,
    "SequenceAt": _at,
    "SequenceInsert": _insert,
    "SequenceErase": _erase,
    "SequenceLength": _length,
    "SplitToSequence": _split,
    "ConcatFromSequence": _concat,
}
HOST = {
    "SequenceAt": (1,),
    "SequenceErase": (1,),
    "SequenceInsert": (2,),
    "SplitToSequence": (1,),
}
