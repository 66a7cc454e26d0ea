"""MaxPool, AveragePool, LpPool and their global forms, over any number of spatial dimensions."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array import native_numpy_pooling
from rlx.backends.array.kernels import windows as geometry
from rlx.backends.array.kernels.reduction import average
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.kernels.windows import Windows, windows
from rlx.backends.array.native import is_numpy
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.backends.array.site import Builder, Kernel, Site

MOST_SHAPES = 256
"""How many input shapes a kernel remembers before it starts again."""


def fold(xp: Any, x: Any, shape: Windows, combine: Callable[[Any, Any, Any], Any]) -> Any:
    """Combine each window's elements, one axis after the other; the result is a new array.

    `combine(xp, into, other)` may write into `into`.
    """
    for axis in range(len(shape.kernel)):
        rest = (slice(None),) * (len(shape.kernel) - axis - 1)
        parts = [x[(..., where, *rest)] for where in shape.axis_slices(axis)]
        x = xp.asarray(parts[0], copy=True)
        for part in parts[1:]:
            x = combine(xp, x, part)
    return x


def _add(_xp: Any, into: Any, other: Any) -> Any:
    into += other
    return into


def _maximum(xp: Any, into: Any, other: Any) -> Any:
    return xp.maximum(into, other)


def remembered(site: Site, make: Callable[[Windows], Any]) -> Callable[[Any], Any]:
    """A function x -> make(its windows), worked out once per input shape."""
    kernel = site.attributes["kernel_shape"]
    made: dict[tuple[int, ...], Any] = {}

    def find(x: Any) -> Any:
        found = made.get(x.shape)
        if found is None:
            if len(made) >= MOST_SHAPES:
                made.clear()
            found = made[x.shape] = make(windows(site.attributes, kernel, x.shape[2:]))
        return found

    return find


def max_pool(site: Site) -> Kernel:
    """Build MaxPool."""
    xp = site.xp
    native = is_numpy(xp)
    pad = native_numpy_pooling.padded if native else geometry.padded
    combine = native_numpy_pooling.maximum_into if native else _maximum
    find = remembered(site, lambda shape: shape)
    if site.outputs > 1 and site.wanted[1]:
        return _max_pool_with_indices(site)

    def run(x: Any) -> Any:
        shape = find(x)
        return fold(xp, pad(xp, x, shape, lowest(xp, x.dtype)), shape, combine)

    return Fresh(run)


def lowest(xp: Any, dtype: Any) -> Any:
    """What never wins a maximum."""
    return -float("inf") if xp.isdtype(dtype, "real floating") else int(xp.iinfo(dtype).min)


def _max_pool_with_indices(site: Site) -> Kernel:
    """MaxPool with, for each maximum, its first place in the flattened input."""
    xp = site.xp
    to_native = site.library.to_native
    column_major = bool(site.attributes.get("storage_order", 0))
    find = remembered(site, lambda shape: (shape, _tap_indices(shape, column_major)))

    def run(x: Any) -> Any:
        shape, indices = find(x)
        source = geometry.padded(xp, x, shape, lowest(xp, x.dtype))
        best, place = None, None
        for where, index in zip(shape.slices(), map(to_native, indices), strict=True):
            part = source[(..., *where)]
            if best is None:
                best = xp.asarray(part, copy=True)
                place = xp.broadcast_to(index, best.shape)
                continue
            better = part > best
            best = xp.where(better, part, best)
            place = xp.where(better, index, place)
        planes = xp.arange(x.shape[0] * x.shape[1], dtype=xp.int64) * prod(shape.spatial)
        planes = xp.reshape(planes, (*x.shape[:2], *(1,) * len(shape.spatial)))
        return best, place + planes

    return Fresh(run)


def _tap_indices(shape: Windows, column_major: bool) -> list[Any]:
    """Per element of the window, its place in the input's plane for every window."""
    ndim = len(shape.spatial)
    axes = range(ndim)
    order = list(axes) if column_major else list(reversed(axes))
    pitch, step = [0] * ndim, 1
    for axis in order:
        pitch[axis], step = step, step * shape.spatial[axis]
    per_axis = []
    for axis in axes:
        starts = np.arange(shape.sizes[axis], dtype=np.int64) * shape.strides[axis]
        starts = starts.reshape(-1, *(1,) * (ndim - axis - 1))
        per_axis.append(
            [
                (starts + i * shape.dilations[axis] - shape.begins[axis]) * pitch[axis]
                for i in range(shape.kernel[axis])
            ]
        )
    return [sum(taps[1:], taps[0]) for taps in product(*per_axis)]


def average_pool(site: Site) -> Kernel:
    """Build AveragePool."""
    xp = site.xp
    pad = native_numpy_pooling.padded if is_numpy(xp) else geometry.padded
    to_native = site.library.to_native
    with_padding = bool(site.attributes.get("count_include_pad", 0))
    find = remembered(site, lambda shape: (shape, _counts(shape, with_padding)))

    def run(x: Any) -> Any:
        shape, counts = find(x)
        y = fold(xp, pad(xp, x, shape, 0), shape, _add)
        y /= counts if isinstance(counts, int) else xp.astype(to_native(counts), x.dtype)
        return y

    return Fresh(run)


def _counts(shape: Windows, with_padding: bool) -> Any:
    """How many elements each window averages: one number where it is the same for all."""
    per_axis = []
    for axis in range(len(shape.kernel)):
        begin, size = shape.begins[axis], shape.spatial[axis]
        low = -begin if with_padding else 0
        high = size + shape.declared[axis] if with_padding else size
        starts = [w * shape.strides[axis] - begin for w in range(shape.sizes[axis])]
        reach = [i * shape.dilations[axis] for i in range(shape.kernel[axis])]
        per_axis.append([sum(low <= start + i < high for i in reach) for start in starts])
    if all(len(set(counts)) == 1 for counts in per_axis):
        return prod(counts[0] for counts in per_axis)
    total = np.ones((1,) * len(per_axis), np.int64)
    for axis, counts in enumerate(per_axis):
        column = np.asarray(counts, np.int64)
        total = total * column.reshape(-1, *(1,) * (len(per_axis) - axis - 1))
    return total


def lp_pool(site: Site) -> Kernel:
    """Build LpPool."""
    xp, p = site.xp, site.attributes.get("p", 2)
    find = remembered(site, lambda shape: shape)

    def run(x: Any) -> Any:
        shape = find(x)
        powers = xp.abs(geometry.padded(xp, x, shape, 0)) ** p
        return fold(xp, powers, shape, _add) ** (1 / p)

    return Fresh(run)


def global_average_pool(site: Site) -> Kernel:
    """Build GlobalAveragePool."""
    xp = site.xp
    return Fresh(lambda x: average(xp, x, tuple(range(2, x.ndim)), True))


def global_max_pool(site: Site) -> Kernel:
    """Build GlobalMaxPool; the maximum of nothing is what every value exceeds."""
    xp = site.xp

    def run(x: Any) -> Any:
        if 0 in x.shape:
            shape = (*x.shape[:2], *(1,) * (x.ndim - 2))
            return xp.full(shape, lowest(xp, x.dtype), dtype=x.dtype)
        return xp.max(x, axis=tuple(range(2, x.ndim)), keepdims=True)

    return Fresh(run)


def global_lp_pool(site: Site) -> Kernel:
    """Build GlobalLpPool."""
    xp, p = site.xp, site.attributes.get("p", 2)

    def run(x: Any) -> Any:
        return xp.sum(xp.abs(x) ** p, axis=tuple(range(2, x.ndim)), keepdims=True) ** (1 / p)

    return Fresh(run)


KERNELS: dict[str, Builder] = {
    "MaxPool": widened(max_pool),
    "AveragePool": widened(average_pool),
    "LpPool": widened(lp_pool),
    "GlobalAveragePool": widened(global_average_pool),
    "GlobalMaxPool": widened(global_max_pool),
    "GlobalLpPool": widened(global_lp_pool),
}
