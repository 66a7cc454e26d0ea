"""Gathering: values picked out by index, by condition or by order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlx.backends.array.kernels.operands import Ints, axis_of, with_ints
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def gather(site: Site) -> Kernel:
    """Negative indices count from the end; one outside the array is an error."""
    xp = site.xp
    axis = site.attributes.get("axis", 0)
    constant = site.constants[1]
    if constant is not None and constant.ndim == 0:
        index = int(constant)

        def pick(x: Array, _: Array) -> Array:
            return x[(*(slice(None),) * axis_of(axis, x.ndim), index)]

        return pick

    def take(x: Array, at: Array) -> Array:
        place = axis_of(axis, x.ndim)
        flat = xp.reshape(at, (-1,))
        flat = xp.where(flat < 0, flat + x.shape[place], flat)
        taken = xp.take(x, flat, axis=place)
        return xp.reshape(taken, (*x.shape[:place], *at.shape, *x.shape[place + 1 :]))

    return Fresh(take)


def grid(xp: object, x: Array, at: Array, axis: int) -> tuple[Array, ...]:
    """Index arrays for `x` that replace the position along `axis` by the entries of `at`."""
    places = []
    for dimension, size in enumerate(at.shape):
        shape = tuple(size if other == dimension else 1 for other in range(at.ndim))
        line = xp.reshape(xp.arange(size, dtype=xp.int64), shape)  # type: ignore[attr-defined]
        places.append(line)
    places[axis] = xp.where(at < 0, at + x.shape[axis], at)  # type: ignore[attr-defined]
    return tuple(places)


def _gather_elements(site: Site) -> Kernel:
    xp = site.xp
    axis = site.attributes.get("axis", 0)
    return Fresh(lambda x, at: x[grid(xp, x, at, axis_of(axis, x.ndim))])


def nd_index(xp: object, sizes: Ints, at: Array, batch: int) -> tuple[Array, ...]:
    """Index arrays of the tuples in the last axis of `at`, after `batch` shared axes."""
    places = []
    for dimension in range(batch):
        shape = tuple(at.shape[dimension] if i == dimension else 1 for i in range(at.ndim - 1))
        line = xp.arange(at.shape[dimension], dtype=xp.int64)  # type: ignore[attr-defined]
        places.append(xp.reshape(line, shape))  # type: ignore[attr-defined]
    for part in range(at.shape[-1]):
        index = at[..., part]
        places.append(xp.where(index < 0, index + sizes[batch + part], index))  # type: ignore[attr-defined]
    return tuple(places)


def _gather_nd(site: Site) -> Kernel:
    xp = site.xp
    batch = site.attributes.get("batch_dims", 0)

    def gather(x: Array, at: Array) -> Array:
        if at.shape[-1]:
            return xp.asarray(x[nd_index(xp, tuple(x.shape), at, batch)], copy=True)
        spread = (*x.shape[:batch], *(1,) * (at.ndim - 1 - batch), *x.shape[batch:])
        whole = xp.broadcast_to(xp.reshape(x, spread), (*at.shape[:-1], *x.shape[batch:]))
        return xp.asarray(whole, copy=True)

    return Fresh(gather)


def _one_hot(site: Site) -> Kernel:
    """`values` holds the off value, then the on value; an index out of range is all off."""
    xp = site.xp
    axis = site.attributes.get("axis", -1)

    def one_hot(at: Array, depth: Array, values: Array) -> Array:
        count = int(depth.reshape(()))
        at = xp.astype(at, xp.int64)
        at = xp.where(at < 0, at + count, at)
        hot = xp.expand_dims(at, axis=-1) == xp.arange(count, dtype=xp.int64)
        off, on = values[0:1], values[1:2]
        return xp.moveaxis(xp.where(hot, on, off), -1, axis_of(axis, at.ndim + 1))

    return Fresh(one_hot)


def _non_zero(site: Site) -> Kernel:
    xp = site.xp

    def non_zero(x: Array) -> Array:
        places = xp.nonzero(xp.reshape(x, (1,)) if x.ndim == 0 else x)
        return xp.astype(xp.stack(places), xp.int64, copy=False)

    return Fresh(non_zero)


def _compress(site: Site) -> Kernel:
    """Without an axis the input is flattened; entries past the condition's end are left out."""
    xp = site.xp
    axis = site.attributes.get("axis")

    def compress(x: Array, condition: Array) -> Array:
        (kept,) = xp.nonzero(condition)
        if axis is None:
            return xp.take(xp.reshape(x, (-1,)), kept, axis=0)
        return xp.take(x, kept, axis=axis_of(axis, x.ndim))

    return Fresh(compress)


def _top_k(site: Site) -> Kernel:
    """Of equal values the one with the lower index comes first; results are always sorted."""
    xp = site.xp
    axis = site.attributes.get("axis", -1)
    largest = bool(site.attributes.get("largest", 1))

    def make(wanted: Ints | None) -> Callable[[Array], tuple[Array, Array]]:
        assert wanted is not None
        k = wanted[0]

        def top(x: Array) -> tuple[Array, Array]:
            at = axis_of(axis, x.ndim)
            size = x.shape[at]
            if not 0 <= k <= size:
                raise ValueError(f"k is {k}, axis {at} has {size} values")
            if largest:  # reversed twice, so that the stable order favours the lower index
                ascending = xp.argsort(xp.flip(x, axis=at), axis=at, stable=True)
                order = size - 1 - xp.flip(ascending, axis=at)
            else:
                order = xp.argsort(x, axis=at, stable=True)
            chosen = order[(*(slice(None),) * at, slice(0, k))]
            return xp.take_along_axis(x, chosen, axis=at), xp.astype(chosen, xp.int64)

        return top

    return with_ints(site, 1, make, fresh=True)


def _unique(site: Site) -> Kernel:
    """Values, and for each its first index, the way back, and its count."""
    axis = site.attributes.get("axis")
    in_order = bool(site.attributes.get("sorted", 1))

    def unique(x: Array) -> object:
        values, first, inverse, counts = np.unique(
            x, return_index=True, return_inverse=True, return_counts=True, axis=axis
        )
        inverse = inverse.reshape(-1)
        if not in_order:
            order = np.argsort(first, kind="stable")
            rank = np.empty_like(order)
            rank[order] = np.arange(order.size)
            values = np.take(values, order, axis=axis or 0)
            first, inverse, counts = first[order], rank[inverse], counts[order]
        results = (values, *(a.astype(np.int64) for a in (first, inverse, counts)))
        return results if site.outputs > 1 else values

    return Fresh(unique)


HOST = {"OneHot": (1,), "TopK": (1,)}
KERNELS: dict[str, Builder] = {
    "Gather": gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "NonZero": _non_zero,
    "Compress": _compress,
    "TopK": _top_k,
    "Unique": widened(_unique),
}
