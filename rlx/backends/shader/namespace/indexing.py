"""Picking and placing by index. Memory is never read outside an array: a wrong index is noted.

The check is lazy as all else: an index that is outside is moved inside, and a flag is raised for
the run to look at when it has its results.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from rlx.backends.array.flags import Flags
from rlx.backends.shader import dtypes as dt
from rlx.backends.shader.namespace.creation import asarray, astype
from rlx.backends.shader.namespace.elementwise import (
    bitwise_or,
    equal,
    greater,
    less,
    maximum,
    minimum,
    where,
)
from rlx.backends.shader.namespace.movement import (
    broadcast_shapes,
    broadcast_to,
    expand_dims,
    reshape,
    sliced,
)
from rlx.backends.shader.namespace.reduction import any as any_of
from rlx.backends.shader.namespace.reduction import sum as sum_of
from rlx.backends.shader.tensor import Tensor

flags = Flags()
"""Of the checks that run on the device."""


def inside(indices: Tensor, size: int) -> Tensor:
    """Indices from -size to size - 1 as int64 counted from the front; others are noted.

    Raises:
        IndexError: they are known, and one is outside.
    """
    at = astype(indices, dt.int64)
    if not at.size:
        return at
    if at.low < 0:
        at = where(less(at, 0), at + size, at)
    if at.low < 0 or at.high >= size:
        if at.host is not None:
            raise IndexError(f"an index is outside an axis of {size}")
        flags.raise_flag(any_of(bitwise_or(less(at, 0), greater(at, size - 1))))
        at = minimum(maximum(at, 0), max(size - 1, 0))
    return at


def pick(x: Tensor, places: Tensor) -> Tensor:
    """Elements of the flattened array at places that are inside it."""
    if x.host is not None and places.host is not None:
        return Tensor.of_host(x.host.reshape(-1)[places.host])
    if not x.size or not places.size:
        return asarray(np.zeros(places.shape, x.dtype.numpy))
    return Tensor("pick", (x, places), (), places.shape, x.dtype, (x.low, x.high))


def _linear(sizes: tuple[int, ...], places: list[Tensor]) -> Tensor:
    """The places, one array per axis, as places in the flattened array."""
    total: Any = None
    for at, place in enumerate(places):
        part = place * prod(sizes[at + 1 :])
        total = part if total is None else total + part
    return total if total is not None else asarray(0, dtype=dt.int64)


def _axis(size: int, axis: int, ndim: int) -> Tensor:
    shape = tuple(size if n == axis else 1 for n in range(ndim))
    return asarray(np.arange(size, dtype=np.int64).reshape(shape))


def take(x: Tensor, indices: Any, /, *, axis: int | None = None) -> Tensor:
    """What is at the indices along an axis.

    Raises:
        IndexError: the axis is empty, and indices are asked for.
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an axis is needed for {x.ndim} dimensions")
        axis = 0
    at = axis % x.ndim
    wanted = asarray(indices)
    if not x.shape[at] and wanted.size:
        raise IndexError(f"axis {at} is empty: nothing can be taken from it")
    key: list[Any] = [slice(None)] * x.ndim
    key[at] = wanted
    return getitem(x, tuple(key))


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """What is at the indices along an axis, line by line."""
    at = axis % x.ndim
    places = [_axis(size, n, x.ndim) for n, size in enumerate(indices.shape)]
    places[at] = inside(indices, x.shape[at])
    return pick(x, broadcast_to(_linear(x.shape, places), indices.shape))


def expanded(x: Tensor, key: Any) -> list[Any]:
    """The key with one entry per axis, and None for each new axis."""
    entries = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for one in entries if one is not None and one is not Ellipsis)
    rest = [slice(None)] * (x.ndim - used)
    dots = [at for at, one in enumerate(entries) if one is Ellipsis]
    if len(dots) > 1 or used > x.ndim:
        raise IndexError(f"{key!r:.80} is no index of {x.ndim} axes")
    if dots:
        return [*entries[: dots[0]], *rest, *entries[dots[0] + 1 :]]
    return [*entries, *rest]


def is_array(one: Any) -> bool:
    """Whether an entry of an index is an array of indices."""
    return isinstance(one, Tensor | np.ndarray | list)


def getitem(x: Tensor, key: Any) -> Tensor:
    """Slices, integers, new axes, and index arrays that are broadcast together, as in NumPy."""
    entries = expanded(x, key)
    starts, steps, sizes, dropped = [], [], [], []
    arrays: dict[int, Tensor] = {}
    axis = 0
    shape: list[int | None] = []  # the shape after slicing; None: an index array is there
    new: list[bool] = []  # by entry of the shape that is kept: made by None
    for one in entries:
        if one is None:
            shape.append(1)
            new.append(True)
            continue
        size = x.shape[axis]
        if is_array(one):
            arrays[axis] = asarray(one)
            start, step, count = 0, 1, size
            shape.append(None)
        elif isinstance(one, slice):
            start, stop, step = one.indices(size)
            count = len(range(start, stop, step))
            shape.append(count)
            new.append(False)
        else:
            place = int(one)
            if not -size <= place < size:
                raise IndexError(f"index {place} is outside axis {axis} of {size}")
            start, step, count = place % size, 1, 1
            dropped.append(axis)
        starts.append(start)
        steps.append(step)
        sizes.append(count)
        axis += 1
    cut = sliced(x, tuple(starts), tuple(steps), tuple(sizes))
    if not arrays:
        return reshape(cut, tuple(n for n in shape if n is not None))
    return _gathered(cut, arrays, shape, dropped, new)


def _gathered(
    cut: Tensor,
    arrays: dict[int, Tensor],
    shape: list[int | None],
    dropped: list[int],
    new: list[bool],
) -> Tensor:
    """The index arrays' part of an index: their axes come together, in front if they are apart."""
    spread = broadcast_shapes(*(one.shape for one in arrays.values()))
    wanted = [n for n in shape if n is not None]
    marks = [at for at, n in enumerate(shape) if n is None]
    together = marks == list(range(marks[0], marks[-1] + 1))
    front = marks[0] if together else 0
    result = (*wanted[:front], *spread, *wanted[front:])
    kept = [n for n in range(cut.ndim) if n not in arrays and n not in dropped]
    # the kept axes of `cut`, in order, are those of `wanted` that are not new
    lines = [n for n, made in enumerate(new) if not made]
    places = []
    for axis in range(cut.ndim):
        if axis in arrays:
            at = inside(arrays[axis], cut.shape[axis])
            tail = (1,) * (len(wanted) - front)
            lined = (1,) * (len(spread) - at.ndim) + at.shape
            places.append(reshape(at, (1,) * front + lined + tail))
        elif axis in kept:
            position = lines[kept.index(axis)]
            spot = position if position < front else position + len(spread)
            places.append(_axis(cut.shape[axis], spot, len(result)))
        else:
            places.append(asarray(np.zeros((1,) * len(result), np.int64)))
    return pick(cut, broadcast_to(_linear(cut.shape, places), result))


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The places of what is not zero, by axis; waits for the device."""
    return tuple(Tensor.of_host(one.astype(np.int64)) for one in np.nonzero(x.known()))


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Where each value would go so that the line stays in order: how many come before it."""
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    if x1.host is not None and x2.host is not None:
        return Tensor.of_host(np.asarray(np.searchsorted(x1.host, x2.host, side=side)))  # type: ignore[call-overload]
    own = expand_dims(x2, axis=-1)
    before = less(x1, own) if side == "left" else bitwise_or(less(x1, own), equal(x1, own))
    return sum_of(astype(before, dt.int64), axis=-1)
