"""Depthwise convolution in NumPy: a column is one run of memory, for strides of one.

The windows of a whole plane, shifted by a tap, are then a shifted view of the padded plane; the
results that lie in its padding are dropped. Channels go in blocks that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.native_numpy_scratch import scratch

if TYPE_CHECKING:
    from rlx.backends.array.kernels.windows import Windows

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]
BLOCK = 1 << 20
"""How many elements a block of columns may have: more leave the cache before they are read."""
SHORT = 2
"""How many times the kernel's height a plane may have to be multiplied as a whole."""
LARGE = 36
"""Taps from which it pays to make columns of one row of the kernel alone."""


def depthwise(windows: Windows, x_shape: Sizes, w_shape: Sizes) -> Callable[[Array, Array], Array]:
    """Make the function (x, w) -> y for one channel per group and strides of one."""
    batch, channels, maps = x_shape[0], x_shape[1], w_shape[0]
    sizes, padded_shape = windows.sizes, windows.padded_shape
    pitches = tuple(prod(padded_shape[axis + 1 :]) for axis in range(len(padded_shape)))
    plane, run_length = prod(padded_shape), sizes[0] * pitches[0]
    jumps = tuple(p * d for p, d in zip(pitches, windows.dilations, strict=True))
    each = maps // channels
    whole = each == 1 and windows.taps >= LARGE and len(sizes) == 2
    reach = sum((k - 1) * jump for k, jump in zip(windows.kernel, jumps, strict=True))
    height = run_length + (windows.kernel[0] - 1) * jumps[0]
    tall = windows.kernel[0] * height if whole else windows.taps * run_length
    step = max(1, min(channels, BLOCK // (4 * tall if whole else tall)))
    inside = tuple(slice(b, b + n) for b, n in zip(windows.begins, windows.spatial, strict=True))
    kept = (slice(None), slice(None), *(slice(n) for n in sizes))

    def all_taps(room: Array, w: Array) -> Array:
        """A product with columns of all taps."""
        count, size = len(w), room.itemsize
        shape = (count, *windows.kernel, run_length)
        strides = (plane * size, *(jump * size for jump in jumps), size)
        columns = scratch("columns", shape, room.dtype)
        np.copyto(columns, np.ndarray(shape, room.dtype, room, 0, strides))
        result = scratch("result", (count, each, run_length), room.dtype)
        flat = columns.reshape(count, windows.taps, run_length)
        return np.matmul(w, flat, out=result)

    def by_rows(room: Array, w: Array) -> Array:
        """A product with columns of one row's taps; its rows, each shifted, are then summed."""
        count, size, (rows, taps) = len(w), room.itemsize, windows.kernel
        shape, strides = (count, taps, height), (plane * size, jumps[1] * size, size)
        columns = scratch("columns", shape, room.dtype)
        np.copyto(columns, np.ndarray(shape, room.dtype, room, 0, strides))
        parts = scratch("parts", (count, rows, height), room.dtype)
        np.matmul(w.reshape(count, rows, taps), columns, out=parts)
        strides = (rows * height * size, (height + jumps[0]) * size, size)
        shifted: Array = np.ndarray((count, rows, run_length), room.dtype, parts, 0, strides)
        result = scratch("result", (count, 1, run_length), room.dtype)
        np.add.reduce(shifted, axis=1, out=result[:, 0])
        return result

    multiply = by_rows if whole else all_taps

    def run(x: Array, w: Array) -> Array:
        y = np.empty((batch, channels, each, *sizes), x.dtype)
        w = w.reshape(channels, each, windows.taps)
        room = scratch("padded", (step * plane + reach,), x.dtype)
        room.fill(0)
        planes = room[: step * plane].reshape(step, *padded_shape)
        for image, first, last in _blocks(batch, channels, step):
            planes[(slice(last - first), *inside)] = x[image, first:last]
            result = multiply(room, w[first:last])
            drawn = result.reshape(last - first, each, sizes[0], *padded_shape[1:])
            y[image, first:last] = drawn[kept]
        return y.reshape(batch, maps, *sizes)

    return run


def _blocks(batch: int, channels: int, step: int) -> Iterator[tuple[int, int, int]]:
    """Each image's channels, so many at a time: (image, first, behind the last)."""
    for image, first in product(range(batch), range(0, channels, step)):
        yield image, first, min(first + step, channels)


def is_short(windows: Windows) -> bool:
    """Whether planes have so few rows that a product over all of them pays."""
    return len(windows.sizes) == 2 and windows.spatial[0] <= SHORT * windows.kernel[0]


def short(windows: Windows, x_shape: Sizes, w_shape: Sizes) -> Callable[[Array, Array], Array]:
    """Make the function (x, w) -> y for one channel per group and planes of few rows.

    A channel's result is one product: its matrix has, per output row and input row, the row of
    the kernel that lies between them, or zeros; columns are windows of single rows.
    """
    batch, channels, maps = x_shape[0], x_shape[1], w_shape[0]
    (rows, width), (high, wide), (out, across) = windows.spatial, windows.kernel, windows.sizes
    each, padded = maps // channels, windows.padded_shape[1]
    stride, dilation, begin = windows.strides[0], windows.dilations[0], windows.begins[0]
    step = max(1, min(channels, BLOCK // (rows * wide * across)))
    base = max(0, (out - 1) * stride - begin)  # so that no row lies before the memory
    tall = base + max(rows + begin, (high - 1) * dilation + 1)
    places = slice(base, base + (high - 1) * dilation + 1, dilation)
    inside = slice(windows.begins[1], windows.begins[1] + width)

    def matrix(w: Array) -> Array:
        """(channels, maps of each x output rows, input rows x kernel's width)."""
        room, row = scratch("kernel", (maps, tall, wide), w.dtype), wide * w.itemsize
        room.fill(0)
        room[:, places] = w.reshape(maps, high, wide)
        shape, strides = (maps, out, rows, wide), (tall * row, -stride * row, row, w.itemsize)
        view: Array = np.ndarray(shape, w.dtype, room, (base + begin) * row, strides)
        whole = scratch("matrix", shape, w.dtype)
        np.copyto(whole, view)
        return whole.reshape(channels, each * out, rows * wide)

    def run(x: Array, w: Array) -> Array:
        y = np.empty((batch, channels, each * out, across), x.dtype)
        factors, size = matrix(w), x.itemsize
        room = scratch("padded", (step, rows, padded), x.dtype)
        room.fill(0)
        jumps = (rows * padded, padded, windows.dilations[1], windows.strides[1])
        strides = tuple(jump * size for jump in jumps)
        for image, first, last in _blocks(batch, channels, step):
            room[: last - first, :, inside] = x[image, first:last]
            shape = (last - first, rows, wide, across)
            columns = scratch("columns", shape, x.dtype)
            np.copyto(columns, np.ndarray(shape, x.dtype, room, 0, strides))
            flat = columns.reshape(last - first, rows * wide, across)
            np.matmul(factors[first:last], flat, out=y[image, first:last])
        return y.reshape(batch, maps, out, across)

    return run
