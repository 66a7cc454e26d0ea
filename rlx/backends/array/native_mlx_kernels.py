"""Picking and placing by index: MLX needs its own kernels, for it checks no index."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import mlx.core as mx

from rlx.backends.array.kernels.cutting import slices
from rlx.backends.array.kernels.operands import axis_of, ints
from rlx.backends.array.mlx_namespace.elementwise import remainder
from rlx.backends.array.mlx_namespace.indexing import inside, take
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.backends.array.site import Array, Builder, Kernel, Site

_SCATTERS = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}


def _linear(sizes: Sequence[int], places: Sequence[Array]) -> Array:
    """The places, one array per axis, as places in the flattened array; each is checked."""
    total: Any = None
    for at, (size, place) in enumerate(zip(sizes, places, strict=True)):
        if not size and place.size:
            raise IndexError(f"axis {at} is empty: it has no element {place.tolist()}")
        part = inside(place, size) * prod(sizes[at + 1 :])
        total = part if total is None else total + part
    return total


def _line(size: int, axis: int, ndim: int) -> Array:
    shape = [1] * ndim
    shape[axis] = size
    return mx.reshape(mx.arange(size, dtype=mx.int64), shape)


def _grid(x: Array, at: Array, axis: int) -> Array:
    """For each entry of `at`, its own place, but for the axis, where the entry says."""
    places = [_line(size, dimension, at.ndim) for dimension, size in enumerate(at.shape)]
    places[axis] = at
    return _linear(x.shape, places)


def _tuples(x: Array, at: Array, batch: int) -> Array:
    """For each index tuple in the last axis of `at`, its place, after `batch` shared axes."""
    places = [_line(at.shape[axis], axis, at.ndim - 1) for axis in range(batch)]
    places += [at[..., part] for part in range(at.shape[-1])]
    return _linear(x.shape[: len(places)], places)


def _gather(site: Site) -> Kernel:
    axis = site.attributes.get("axis", 0)

    def gather(x: Array, at: Array) -> Array:
        place = axis_of(axis, x.ndim)
        shape = (*x.shape[:place], *at.shape, *x.shape[place + 1 :])
        taken = take(x, mx.reshape(at, (-1,)), axis=place)
        return mx.reshape(taken, shape)

    return Fresh(gather)


def _gather_elements(site: Site) -> Kernel:
    axis = site.attributes.get("axis", 0)

    def gather(x: Array, at: Array) -> Array:
        if not at.size:
            return mx.zeros(at.shape, dtype=x.dtype)
        places = _grid(x, at, axis_of(axis, x.ndim))
        return mx.reshape(mx.take(mx.reshape(x, (-1,)), mx.reshape(places, (-1,))), at.shape)

    return Fresh(gather)


def _gather_nd(site: Site) -> Kernel:
    batch = site.attributes.get("batch_dims", 0)

    def gather(x: Array, at: Array) -> Array:
        depth = batch + at.shape[-1]
        shape = (*at.shape[:-1], *x.shape[depth:])
        if not prod(shape):
            return mx.zeros(shape, dtype=x.dtype)
        if not depth:
            return mx.broadcast_to(x, shape)
        places = mx.broadcast_to(_tuples(x, at, batch), at.shape[:-1])
        rows = mx.reshape(x, (prod(x.shape[:depth]), prod(x.shape[depth:])))
        return mx.reshape(mx.take(rows, mx.reshape(places, (-1,)), axis=0), shape)

    return Fresh(gather)


def _written(rows: Array, places: Array, updates: Array, how: str) -> Array:
    """The rows with the updates at the places, combined as `how` says."""
    if how != "none":
        return getattr(rows.at[places], _SCATTERS[how])(updates)
    y = mx.array(rows)
    y[places] = updates
    return y


def _scatter_elements(site: Site) -> Kernel:
    axis = site.attributes.get("axis", 0)
    how = site.attributes.get("reduction", "none")

    def scatter(x: Array, at: Array, updates: Array) -> Array:
        if not at.size:
            return mx.array(x)
        places = mx.reshape(_grid(x, at, axis_of(axis, x.ndim)), (-1,))
        flat = mx.reshape(x, (-1,))
        return mx.reshape(_written(flat, places, mx.reshape(updates, (-1,)), how), x.shape)

    return Fresh(scatter)


def _scatter_nd(site: Site) -> Kernel:
    how = site.attributes.get("reduction", "none")

    def scatter(x: Array, at: Array, updates: Array) -> Array:
        depth = at.shape[-1]
        if not updates.size:
            return mx.array(x)
        rows = mx.reshape(x, (prod(x.shape[:depth]), prod(x.shape[depth:])))
        if depth:
            places = mx.reshape(_tuples(x, at, 0), (-1,))
        else:
            places = mx.zeros((prod(at.shape[:-1]),), dtype=mx.int64)
        changes = mx.reshape(updates, (places.shape[0], rows.shape[1]))
        return mx.reshape(_written(rows, places, changes, how), x.shape)

    return Fresh(scatter)


def _tensor_scatter(site: Site) -> Kernel:
    """A stretch of each batch entry, written at that entry's own position along the axis."""
    axis = site.attributes.get("axis", -2)
    circular = site.attributes.get("mode", "linear") == "circular"

    def scatter(past: Array, update: Array, starts: Array | None = None) -> Array:
        at = axis_of(axis, past.ndim)
        batch, size, steps = past.shape[0], past.shape[at], update.shape[at]
        if not update.size:
            return mx.array(past)
        first = mx.zeros((batch,), dtype=mx.int64) if starts is None else starts
        places = mx.reshape(first.astype(mx.int64), (-1, 1)) + mx.arange(steps, dtype=mx.int64)
        places = inside(remainder(places, size) if circular else places, size)
        y = mx.array(mx.moveaxis(past, at, 1))
        y[_line(batch, 0, 2), places] = mx.moveaxis(update, at, 1)
        return mx.moveaxis(y, 1, at)

    return Fresh(scatter)


def _reverse_sequence(site: Site) -> Kernel:
    """Each sequence turned around within its own length."""
    batch = site.attributes.get("batch_axis", 1)
    time = site.attributes.get("time_axis", 0)

    def reverse(x: Array, lengths: Array) -> Array:
        lead = (axis_of(batch, x.ndim), axis_of(time, x.ndim))
        rest = [axis for axis in range(x.ndim) if axis not in lead]
        if not x.size:
            return x
        moved = mx.transpose(x, (*lead, *rest))
        step = _line(moved.shape[1], 1, 2)
        length = mx.expand_dims(lengths.astype(mx.int64), 1)
        order = mx.where(step < length, length - 1 - step, step)
        order = inside(order, moved.shape[1])
        turned = moved[_line(moved.shape[0], 0, 2), order]
        back = [(*lead, *rest).index(axis) for axis in range(x.ndim)]
        return mx.transpose(turned, back)

    return Fresh(reverse)


def _slice(site: Site) -> Kernel:
    """Slices with the bounds that they come to: MLX takes bounds and steps of 32 bits only."""
    del site

    def cut(x: Array, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Array:
        first, last = ints(starts), ints(ends)
        places = tuple(range(len(first))) if axes is None else ints(axes)
        strides = (1,) * len(first) if steps is None else ints(steps)
        chosen = slices(tuple(x.shape), first, last, places, strides)
        return x[tuple(_short(one, size) for one, size in zip(chosen, x.shape, strict=True))]

    return cut


def _short(chosen: slice, size: int) -> slice:
    """The same elements of an axis of this size, by numbers no larger than it."""
    picked = range(*chosen.indices(size))
    if len(picked) < 2:
        return slice(picked[0], picked[0] + 1) if picked else slice(0, 0)
    end = picked[-1] + (1 if picked.step > 0 else -1)
    return slice(picked[0], None if end < 0 else end, picked.step)


OVERRIDES: Mapping[str, Builder] = MappingProxyType(
    {
        "Gather": _gather,
        "GatherElements": _gather_elements,
        "GatherND": _gather_nd,
        "ScatterElements": _scatter_elements,
        "ScatterND": _scatter_nd,
        "TensorScatter": _tensor_scatter,
        "ReverseSequence": _reverse_sequence,
        "Slice": _slice,
    }
)
