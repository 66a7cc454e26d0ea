"""Reductions along axes; the narrow floats are summed in float32."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rlx.backends.array.kernels.operands import Ints, axis_of, with_ints
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.native import is_integer, is_numpy
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

Reducer = Callable[[Any, Array, Ints, bool], Array]
"""A namespace, an array, axes and `keepdims`: the reduced array."""


def _reduction(reduce: Reducer) -> Builder:
    """Axes are an operand; where there are none all axes are meant, or, as asked, no axis."""

    def build(site: Site) -> Kernel:
        keep = bool(site.attributes.get("keepdims", 1))
        none_is_none = bool(site.attributes.get("noop_with_empty_axes", 0))
        xp = site.xp

        def make(axes: Ints | None) -> Callable[[Array], Array]:
            if axes:
                return lambda x: reduce(xp, x, axes, keep)
            if none_is_none:
                return lambda x: reduce(xp, x, (), keep)
            return lambda x: reduce(xp, x, tuple(range(x.ndim)), keep)

        return with_ints(site, 1, make, fresh=True)

    return build


def _sum(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
    if is_numpy(xp):
        return xp.add.reduce(x, axis=axes, dtype=x.dtype, keepdims=keep)
    return xp.sum(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _prod(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
    return xp.prod(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _extreme(name: str) -> Reducer:
    """The smallest or largest; of no values at all, what every value would replace."""
    largest = name == "max"

    def reduce(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
        if 0 in x.shape:
            return xp.full(_reduced_shape(x, axes, keep), _identity(xp, x, largest), dtype=x.dtype)
        if x.dtype == xp.bool:
            return (xp.any if largest else xp.all)(x, axis=axes, keepdims=keep)
        return getattr(xp, name)(x, axis=axes, keepdims=keep)

    return reduce


def _identity(xp: Any, x: Array, largest: bool) -> Any:
    if x.dtype == xp.bool:
        return not largest
    if is_integer(xp, x.dtype):
        limits = xp.iinfo(x.dtype)
        return limits.min if largest else limits.max
    return -math.inf if largest else math.inf


def _reduced_shape(x: Array, axes: Ints, keep: bool) -> Ints:
    gone = {axis_of(axis, x.ndim) for axis in axes}
    kept = (1 if at in gone else size for at, size in enumerate(x.shape) if keep or at not in gone)
    return tuple(kept)


def average(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
    """Integers are divided in float64 and rounded toward zero."""
    count = math.prod(x.shape[axis] for axis in axes)
    if is_integer(xp, x.dtype):
        total = xp.sum(x, axis=axes, keepdims=keep, dtype=xp.float64)
        return xp.astype(xp.asarray(total / count), x.dtype)
    total = _sum(xp, x, axes, keep)
    total /= max(count, 1) if 0 not in x.shape else math.nan
    return total


def _l1(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
    return _sum(xp, xp.abs(x), axes, keep)


def _sum_square(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
    return _sum(xp, x * x, axes, keep)


def _real(function: Reducer) -> Reducer:
    """Integers are computed in float64 and rounded toward zero."""

    def reduce(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
        if not is_integer(xp, x.dtype):
            return function(xp, x, axes, keep)
        result = function(xp, xp.astype(x, xp.float64), axes, keep)
        return xp.astype(xp.asarray(result), x.dtype)

    return reduce


def _l2(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
    return xp.sqrt(_sum_square(xp, x, axes, keep))


def _log_sum(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
    return xp.log(_sum(xp, x, axes, keep))


def log_sum_exp(xp: Any, x: Array, axes: Ints, keep: bool) -> Array:
    """log(sum(e^x)), shifted by the maximum so that it does not overflow."""
    if 0 in x.shape:
        return xp.full(_reduced_shape(x, axes, keep), -math.inf, dtype=x.dtype)
    top = xp.max(x, axis=axes, keepdims=True)
    shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    total = xp.log(_sum(xp, xp.exp(x - shift), axes, True)) + shift
    return total if keep else xp.squeeze(total, axis=axes)


def _arg_extreme(name: str) -> Builder:
    def build(site: Site) -> Kernel:
        xp = site.xp
        axis = site.attributes.get("axis", 0)
        keep = bool(site.attributes.get("keepdims", 1))
        last = bool(site.attributes.get("select_last_index", 0))
        find = getattr(xp, name)

        def first_of(x: Array) -> Array:
            if 0 in x.shape and 0 in (shape := _reduced_shape(x, (axis,), keep)):
                return xp.zeros(shape, dtype=xp.int64)
            return xp.astype(find(x, axis=axis, keepdims=keep), xp.int64, copy=False)

        def last_of(x: Array) -> Array:
            return x.shape[axis] - 1 - first_of(xp.flip(x, axis=axis))

        return Fresh(last_of if last else first_of)

    return build


def _cumulative(name: str, neutral: int) -> Builder:
    """A running total; `exclusive` leaves out the element itself, `reverse` runs from the end."""

    def build(site: Site) -> Kernel:
        xp = site.xp
        exclusive = bool(site.attributes.get("exclusive", 0))
        reverse = bool(site.attributes.get("reverse", 0))
        accumulate = getattr(xp, name)

        def make(axes: Ints | None) -> Callable[[Array], Array]:
            assert axes is not None
            axis = axes[0]

            def run(x: Array) -> Array:
                if reverse:
                    x = xp.flip(x, axis=axis)
                if exclusive:
                    before = (slice(None),) * axis_of(axis, x.ndim)
                    first = xp.full_like(x[(*before, slice(0, 1))], neutral)
                    x = xp.concat((first, x[(*before, slice(0, -1))]), axis=axis)
                total = accumulate(x, axis=axis, dtype=x.dtype)
                return xp.flip(total, axis=axis) if reverse else total

            return run

        return with_ints(site, 1, make)

    return build


HOST = {
    "ReduceSum": (1,),
    "ReduceProd": (1,),
    "ReduceMax": (1,),
    "ReduceMin": (1,),
    "ReduceMean": (1,),
    "ReduceL1": (1,),
    "ReduceL2": (1,),
    "ReduceSumSquare": (1,),
    "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,),
    "CumSum": (1,),
    "CumProd": (1,),
}
KERNELS: dict[str, Builder] = {
    "ReduceSum": widened(_reduction(_sum)),
    "ReduceProd": widened(_reduction(_prod)),
    "ReduceMax": _reduction(_extreme("max")),
    "ReduceMin": _reduction(_extreme("min")),
    "ReduceMean": widened(_reduction(average)),
    "ReduceL1": widened(_reduction(_l1)),
    "ReduceL2": widened(_reduction(_real(_l2))),
    "ReduceSumSquare": widened(_reduction(_sum_square)),
    "ReduceLogSum": widened(_reduction(_real(_log_sum))),
    "ReduceLogSumExp": widened(_reduction(log_sum_exp)),
    "ArgMax": _arg_extreme("argmax"),
    "ArgMin": _arg_extreme("argmin"),
    "CumSum": widened(_cumulative("cumulative_sum", 0)),
    "CumProd": widened(_cumulative("cumulative_prod", 1)),
}
