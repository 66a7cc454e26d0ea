"""Picking by index: MLX reads past the end of memory unasked, so places are checked here.

The check is lazy as all else: an index that is outside is moved inside, and a flag is raised
for the run to look at when it has its results.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from rlx.backends.array.flags import Flags

Array = Any


flags = Flags()
"""Of the checks that run on the device."""


def inside(indices: Array, size: int) -> Array:
    """Indices as they are where they are from -size to size - 1, counted from the front.

    One that is not is noted, to be reported when the run ends, and moved inside until then.
    """
    indices = indices.astype(mx.int64)
    counted = mx.where(indices < 0, indices + size, indices)
    if not indices.size:
        return counted
    flags.raise_flag(mx.any((counted < 0) | (counted >= size)))
    return mx.minimum(mx.maximum(counted, 0), max(size - 1, 0))


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """What is at the indices along an axis.

    Raises:
        IndexError: the axis is empty, and indices are asked for.
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an axis is needed for {x.ndim} dimensions")
        axis = 0
    size = x.shape[axis]
    if not size and indices.size:
        raise IndexError(f"axis {axis} is empty: nothing can be taken from it")
    return mx.take(x, inside(indices, size), axis=axis)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """What is at the indices along an axis, line by line.

    Raises:
        IndexError: the axis is empty, and indices are asked for.
    """
    size = x.shape[axis]
    if not size and indices.size:
        raise IndexError(f"axis {axis} is empty: nothing can be taken from it")
    return mx.take_along_axis(x, inside(indices, size), axis=axis)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """The places of what is not zero, by axis; how many there are is known when x is computed."""
    places = _set(x != 0) if x.dtype != mx.bool_ else _set(x)
    found = []
    for size in reversed(x.shape):
        found.append(places % max(size, 1))
        places = places // max(size, 1)
    return tuple(reversed(found))


def _set(flags: Array) -> Array:
    """The places of what is true in all of the flags, counted in row-major order."""
    flat = mx.reshape(flags, (-1,))
    if not flat.size:
        return mx.zeros((0,), mx.int64)
    ends = mx.cumsum(flat.astype(mx.int64))
    count = int(ends[-1])  # waits for what was computed
    line = mx.zeros((count + 1,), mx.int64)
    line[mx.where(flat, ends - 1, count)] = mx.arange(flat.size, dtype=mx.int64)
    return line[:count]


def searchsorted(x1: Array, x2: Array, /, *, side: str = "left", sorter: Any = None) -> Array:
    """Where each value would go so that the line stays in order."""
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    return mx.searchsorted(x1, x2, side=side).astype(mx.int64)


def unique_values(x: Array, /) -> Array:
    """The distinct values, in order; how many there are is known when x is computed."""
    line = mx.sort(mx.reshape(x, (-1,)))
    if line.size < 2:
        return line
    first = mx.concatenate([mx.ones((1,), mx.bool_), line[1:] != line[:-1]])
    return line[_set(first)]
