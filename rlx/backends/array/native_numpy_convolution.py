"""Convolution in NumPy: as few large matrix products as the shape allows.

A 1×1 kernel is a matrix product on a reshape. Otherwise the windows, seen through strides, are
copied into scratch memory as columns, a block of output rows at a time, and multiplied into the
output in place; with one channel per group, a block of channels at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.native_numpy_scratch import scratch

if TYPE_CHECKING:
    from rlx.backends.array.kernels.windows import Windows

Array = np.ndarray[Any, Any]
Plan = Callable[[Array, Array], Array]
BLOCK_BYTES = 4 << 20
"""About how large a block of columns may be: larger ones leave the cache before they are read."""


def plan(windows: Windows, x_shape: tuple[int, ...], w_shape: tuple[int, ...], group: int) -> Plan:
    """Make the function (x, w) -> y, without bias, for these shapes."""
    batch, maps = x_shape[0], w_shape[0]
    out_shape = (batch, maps, *windows.sizes)
    if 0 in out_shape or 0 in x_shape:
        return lambda x, _w: np.zeros(out_shape, x.dtype)
    if windows.taps == 1:
        return _pointwise(windows, x_shape, w_shape, group)
    if group == x_shape[1] and group > 1 and set(windows.strides) == {1}:
        return _depthwise(windows, x_shape, w_shape)
    return _unrolled(windows, x_shape, w_shape, group)


def _pointwise(
    windows: Windows, x_shape: tuple[int, ...], w_shape: tuple[int, ...], group: int
) -> Plan:
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


def _unrolled(
    windows: Windows, x_shape: tuple[int, ...], w_shape: tuple[int, ...], group: int
) -> Plan:
    """Columns of windows, a block of output rows at a time, multiplied into the output."""
    batch, channels, maps = x_shape[0], x_shape[1], w_shape[0]
    per_group, maps_per_group = channels // group, maps // group
    depth = per_group * windows.taps
    rows, row = windows.sizes[0], prod(windows.sizes[1:])
    out_shape = (batch, maps, *windows.sizes)
    w_view = (group, maps_per_group, depth) if group > 1 else (maps_per_group, depth)
    y_view = (group, maps_per_group, rows * row) if group > 1 else (maps_per_group, rows * row)
    lead = (group, per_group) if group > 1 else (per_group,)
    padded_shape = windows.padded_shape
    pixels = prod(padded_shape)

    def run(x: Array, w: Array) -> Array:
        source = _padded(x, windows)
        if not source.flags.c_contiguous:
            source = np.ascontiguousarray(source)
        size = source.itemsize
        inner = [size]
        for length in reversed(padded_shape[1:]):
            inner.insert(0, inner[0] * length)
        taps = tuple(s * d for s, d in zip(inner, windows.dilations, strict=True))
        steps = tuple(s * t for s, t in zip(inner, windows.strides, strict=True))
        plane = pixels * size
        heads = (plane * per_group, plane) if group > 1 else (plane,)
        strides = (*heads, *taps, *steps)
        step = max(1, min(rows, BLOCK_BYTES // max(1, channels * windows.taps * row * size)))
        step = -(-rows // -(-rows // step))
        y = np.empty(out_shape, x.dtype)
        w = w.reshape(w_view)
        for image in range(batch):
            start = image * plane * channels
            target = y[image].reshape(y_view)
            for first in range(0, rows, step):
                count = min(step, rows - first)
                shape = (*lead, *windows.kernel, count, *windows.sizes[1:])
                view: Array = np.ndarray(shape, x.dtype, source, start + first * steps[0], strides)
                columns = scratch("columns", shape, x.dtype)
                np.copyto(columns, view)
                matrix = columns.reshape((group, depth, -1) if group > 1 else (depth, -1))
                np.matmul(w, matrix, out=target[..., first * row : (first + count) * row])
        return y

    return run


def _depthwise(windows: Windows, x_shape: tuple[int, ...], w_shape: tuple[int, ...]) -> Plan:
    """One channel per group, steps of one: a column is one run of memory.

    The windows of a whole plane, shifted by a tap, are then a shifted view of the padded plane;
    the results that lie in its padding are dropped. Channels go in blocks that stay in the cache.
    """
    batch, channels, maps = x_shape[0], x_shape[1], w_shape[0]
    padded_shape, sizes, kernel = windows.padded_shape, windows.sizes, windows.kernel
    pitches = [prod(padded_shape[axis + 1 :]) for axis in range(len(kernel))]
    plane, run_length = prod(padded_shape), sizes[0] * pitches[0]
    spill = sum((k - 1) * d * p for k, d, p in zip(kernel, windows.dilations, pitches, strict=True))
    inside = tuple(slice(b, b + n) for b, n in zip(windows.begins, windows.spatial, strict=True))
    kept = tuple(slice(n) for n in sizes)
    each, taps = maps // channels, windows.taps

    def run(x: Array, w: Array) -> Array:
        dtype, size = x.dtype, x.itemsize
        step = max(1, min(channels, BLOCK_BYTES // (taps * run_length * size)))
        y = np.empty((batch, channels, each, *sizes), dtype)
        w = w.reshape(channels, each, taps)
        jumps = tuple(p * d * size for p, d in zip(pitches, windows.dilations, strict=True))
        room = scratch("padded", (step * plane + spill,), dtype)
        room.fill(0)
        planes = room[: step * plane].reshape(step, *padded_shape)
        for image, first in product(range(batch), range(0, channels, step)):
            count = min(step, channels - first)
            planes[(slice(count), *inside)] = x[image, first : first + count]
            shape = (count, *kernel, run_length)
            view: Array = np.ndarray(shape, dtype, room, 0, (plane * size, *jumps, size))
            columns = scratch("columns", shape, dtype)
            np.copyto(columns, view)
            result = scratch("result", (count, each, run_length), dtype)
            np.matmul(w[first : first + count], columns.reshape(count, taps, -1), out=result)
            whole = result.reshape(count, each, sizes[0], *padded_shape[1:])
            y[image, first : first + count] = whole[(slice(None), slice(None), *kept)]
        return y.reshape(batch, maps, *sizes)

    return run


def _padded(x: Array, windows: Windows) -> Array:
    """The input with zeros around it, in scratch memory; itself where there is no padding."""
    if not windows.padded:
        return x
    room = scratch("padded", (*x.shape[:2], *windows.padded_shape), x.dtype)
    room.fill(0)
    inside = tuple(slice(b, b + n) for b, n in zip(windows.begins, windows.spatial, strict=True))
    room[(slice(None), slice(None), *inside)] = x
    return room
