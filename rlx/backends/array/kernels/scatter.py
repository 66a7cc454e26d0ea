"""Scattering: updates written into a copy of the data, by index."""

from __future__ import annotations

from typing import Any

from rlx.backends.array.kernels.indexing import grid, nd_index
from rlx.backends.array.kernels.operands import axis_of
from rlx.backends.array.kernels.updates import combine, put
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def _write(xp: Any, into: Array, places: tuple[Array, ...], updates: Array, how: str) -> Array:
    """Write `updates` at `places`; entries named several times are combined as `how` says."""
    if how == "none":
        return put(into, places, updates)
    return combine(xp, into, places, updates, how)


def _scatter_elements(site: Site) -> Kernel:
    xp = site.xp
    axis = site.attributes.get("axis", 0)
    how = site.attributes.get("reduction", "none")

    def scatter(x: Array, at: Array, updates: Array) -> Array:
        places = grid(xp, x, at, axis_of(axis, x.ndim))
        return _write(xp, xp.asarray(x, copy=True), places, updates, how)

    return Fresh(scatter)


def _scatter_nd(site: Site) -> Kernel:
    xp = site.xp
    how = site.attributes.get("reduction", "none")

    def scatter(x: Array, at: Array, updates: Array) -> Array:
        places = nd_index(xp, tuple(x.shape), at, 0)
        return _write(xp, xp.asarray(x, copy=True), places, updates, how)

    return Fresh(scatter)


def _tensor_scatter(site: Site) -> Kernel:
    """Writes a stretch of each batch entry at that entry's own position along the axis."""
    xp = site.xp
    axis = site.attributes.get("axis", -2)
    circular = site.attributes.get("mode", "linear") == "circular"

    def scatter(past: Array, update: Array, starts: Array | None = None) -> Array:
        at = axis_of(axis, past.ndim)
        steps = xp.arange(update.shape[at], dtype=xp.int64)
        if starts is None:
            starts = xp.zeros((past.shape[0],), dtype=xp.int64)
        rows = xp.reshape(xp.arange(past.shape[0], dtype=xp.int64), (-1, 1))
        places = xp.reshape(starts, (-1, 1)) + steps
        if circular:
            places = places % past.shape[at]
        present = xp.asarray(xp.moveaxis(past, at, 1), copy=True)
        present = put(present, (rows, places), xp.moveaxis(update, at, 1))
        return xp.moveaxis(present, 1, at)

    return Fresh(scatter)


KERNELS: dict[str, Builder] = {
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
}
