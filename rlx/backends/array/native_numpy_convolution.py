"""Convolution in NumPy: as few large matrix products as the shape allows.

A 1×1 kernel is a matrix product on a reshape. Otherwise the windows, seen through strides, are
copied into scratch memory as columns, a block of output rows at a time, and multiplied into the
output in place. With one channel per group, see `native_numpy_depthwise`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.native_numpy_depthwise import BLOCK, depthwise, is_short, short
from rlx.backends.array.native_numpy_scratch import scratch

if TYPE_CHECKING:
    from rlx.backends.array.kernels.windows import Windows

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]
Plan = Callable[[Array, Array], Array]
Block = tuple[int, Sizes, Sizes, tuple[Any, slice]]
"""Where it begins in bytes, the shape of its windows, that of its columns, and its results."""
Layout = tuple[Sizes, tuple[Block, ...]]
FEW = 64
"""Windows of one image up to which all images are multiplied at once."""


def plan(windows: Windows, x_shape: Sizes, w_shape: Sizes, group: int) -> Plan:
    """Make the function (x, w) -> y, without bias, for these shapes."""
    batch, maps = x_shape[0], w_shape[0]
    out_shape = (batch, maps, *windows.sizes)
    if 0 in out_shape or 0 in x_shape:
        return lambda x, _w: np.zeros(out_shape, x.dtype)
    if windows.taps == 1:
        return _pointwise(windows, x_shape, w_shape, group)
    if group == x_shape[1] and group > 1 and is_short(windows):
        return _if_finite(
            short(windows, x_shape, w_shape), _unrolled(windows, x_shape, w_shape, group)
        )
    if group == x_shape[1] and group > 1 and set(windows.strides) == {1}:
        return depthwise(windows, x_shape, w_shape)
    pixels, depth = prod(windows.sizes), x_shape[1] * windows.taps
    if group == 1 and x_shape[0] > 1 and pixels <= FEW and x_shape[0] * pixels * depth <= BLOCK:
        return _together(windows, x_shape, w_shape)
    return _unrolled(windows, x_shape, w_shape, group)


def _if_finite(one: Plan, other: Plan) -> Plan:
    """The first, which multiplies by zeros of its own, where no infinity or NaN meets them."""

    def run(x: Array, w: Array) -> Array:
        finite = np.isfinite(np.add.reduce(x, axis=None)) and np.isfinite(w.sum())
        return (one if finite else other)(x, w)

    return run


def _pointwise(windows: Windows, x_shape: Sizes, w_shape: Sizes, group: int) -> Plan:
    """A window of one element: a matrix product over the channels of (strided) pixels."""
    batch, channels, maps = x_shape[0], x_shape[1], w_shape[0]
    pixels = prod(windows.sizes)
    out_shape = (batch, maps, *windows.sizes)
    (where,) = windows.slices()
    pick = (slice(None), slice(None), *where)
    whole = not windows.padded and windows.sizes == windows.spatial
    each = (channels // group, maps // group)
    heads = (group,) if group > 1 else ()
    x_view, w_view = (batch, *heads, each[0], pixels), (*heads, each[1], each[0])

    def run(x: Array, w: Array) -> Array:
        if not whole:
            source = _padded(x, windows)[pick]
            x = scratch("columns", source.shape, x.dtype)
            np.copyto(x, source)
        y: Array = np.matmul(w.reshape(w_view), x.reshape(x_view))
        return y.reshape(out_shape)

    return run


def _unrolled(windows: Windows, x_shape: Sizes, w_shape: Sizes, group: int) -> Plan:
    """Columns of windows, a block of output rows at a time, multiplied into the output."""
    batch, channels, maps = x_shape[0], x_shape[1], w_shape[0]
    per_group, maps_per_group = channels // group, maps // group
    depth = per_group * windows.taps
    pixels = prod(windows.sizes)
    out_shape = (batch, maps, *windows.sizes)
    heads = (group,) if group > 1 else ()
    w_view, y_view = (*heads, maps_per_group, depth), (*heads, maps_per_group, pixels)
    plane = prod(windows.padded_shape)
    layouts: dict[int, Layout] = {}

    def run(x: Array, w: Array) -> Array:
        source = _padded(x, windows)
        if not source.flags.c_contiguous:
            source = np.ascontiguousarray(source)
        size, dtype = source.itemsize, x.dtype
        y = np.empty(out_shape, dtype)
        layout = layouts.get(size)
        if layout is None:  # after the memory was had: an absurd size ends there
            layout = layouts[size] = _layout(windows, channels, per_group, heads, size)
        strides, blocks = layout
        w = w.reshape(w_view)
        for image in range(batch):
            target = y[image].reshape(y_view)
            start = image * plane * channels * size
            for offset, shape, flat, where in blocks:
                view: Array = np.ndarray(shape, dtype, source, start + offset, strides)
                columns = scratch("columns", shape, dtype)
                np.copyto(columns, view)
                np.matmul(w, columns.reshape(flat), out=target[where])
        return y

    return run


def _together(windows: Windows, x_shape: Sizes, w_shape: Sizes) -> Plan:
    """One product with the columns of all images: few windows each, so images go innermost."""
    batch, channels, maps = x_shape[0], x_shape[1], w_shape[0]
    depth, count = channels * windows.taps, prod(windows.sizes) * batch
    room_shape = (channels, *windows.padded_shape, batch)
    begins = zip(windows.begins, windows.spatial, strict=True)
    inside = (slice(None), *(slice(b, b + n) for b, n in begins))
    pitches = [pitch * batch for pitch in _pitches(windows.padded_shape)]
    jumps = (
        prod(windows.padded_shape) * batch,
        *(pitch * step for pitch, step in zip(pitches, windows.dilations, strict=True)),
        *(pitch * step for pitch, step in zip(pitches, windows.strides, strict=True)),
        1,
    )
    shape = (channels, *windows.kernel, *windows.sizes, batch)

    def run(x: Array, w: Array) -> Array:
        room = scratch("padded", room_shape, x.dtype)
        if windows.padded:
            room.fill(0)
        room[inside] = np.moveaxis(x, 0, -1)
        strides = tuple(jump * room.itemsize for jump in jumps)
        columns = scratch("columns", shape, x.dtype)
        np.copyto(columns, np.ndarray(shape, x.dtype, room, 0, strides))
        result = scratch("result", (maps, count), x.dtype)
        np.matmul(w.reshape(maps, depth), columns.reshape(depth, count), out=result)
        drawn = result.reshape(maps, *windows.sizes, batch)
        return np.ascontiguousarray(np.moveaxis(drawn, -1, 0))

    return run


def _layout(windows: Windows, channels: int, per_group: int, heads: Sizes, size: int) -> Layout:
    """The strides of windows over elements of `size` bytes, and the blocks that are copied."""
    pitches, plane = _pitches(windows.padded_shape), prod(windows.padded_shape)
    taps = tuple(p * d * size for p, d in zip(pitches, windows.dilations, strict=True))
    steps = tuple(p * s * size for p, s in zip(pitches, windows.strides, strict=True))
    across = (plane * per_group * size, plane * size) if heads else (plane * size,)
    depth = per_group * windows.taps
    blocks = []
    for start, tile, first in tiles(windows.sizes, BLOCK // max(1, channels * windows.taps)):
        offset = sum(at * step for at, step in zip(start, steps, strict=True))
        shape = (*heads, per_group, *windows.kernel, *tile)
        last = first + prod(tile)
        blocks.append((offset, shape, (*heads, depth, last - first), (..., slice(first, last))))
    return (*across, *taps, *steps), tuple(blocks)


def tiles(sizes: Sizes, most: int) -> Iterator[tuple[Sizes, Sizes, int]]:
    """Split the windows into runs in row-major order: their start, their sizes, how many before.

    A run has at most `most` windows, or one.
    """
    axis = 0
    while axis < len(sizes) - 1 and prod(sizes[axis + 1 :]) > most:
        axis += 1
    size, rest = sizes[axis], sizes[axis + 1 :]
    step = max(1, min(size, most // prod(rest)))
    step = -(-size // -(-size // step))
    done = 0
    for outer in product(*map(range, sizes[:axis])):
        for first in range(0, size, step):
            tile = (*(1,) * axis, min(step, size - first), *rest)
            yield (*outer, first, *(0,) * len(rest)), tile, done
            done += prod(tile)


def _pitches(shape: Sizes) -> Sizes:
    """How many elements lie between neighbours along each axis of a C-contiguous array."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _padded(x: Array, windows: Windows) -> Array:
    """The input with zeros around it, in scratch memory; itself where there is no padding."""
    if not windows.padded:
        return x
    room = scratch("padded", (*x.shape[:2], *windows.padded_shape), x.dtype)
    room.fill(0)
    inside = tuple(slice(b, b + n) for b, n in zip(windows.begins, windows.spatial, strict=True))
    room[(slice(None), slice(None), *inside)] = x
    return room
