"""Reductions, running totals and orders, with the dtypes and NaN of the standard and NumPy.

Of empty arrays the answer is made here: MLX's loops over them need not end.
"""

# ruff: noqa: A001 - the standard's names are Python's too

from __future__ import annotations

import builtins
from functools import partial
from math import nan
from typing import Any

import mlx.core as mx

from rlx.backends.array.mlx_namespace.dtypes import FLOATS, UNSIGNED

Array = Any
Axis = int | tuple[int, ...] | None


def _default(x: Array) -> Any:
    """What sums and products are made in, unless told: integers in 64 bits, floats as they are."""
    if x.dtype in FLOATS or x.dtype == mx.complex64:
        return x.dtype
    return mx.uint64 if x.dtype in UNSIGNED else mx.int64


def _reduced(reduce: Any, neutral: Any, x: Array, axis: Axis, keepdims: builtins.bool) -> Array:
    """MLX's reduction; of an empty array, what is neutral to it.

    Raises:
        ValueError: it is asked of no values, and nothing is neutral.
    """
    if x.size:
        return reduce(x, axis=axis, keepdims=keepdims)
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    gone = {at % x.ndim for at in axes}
    sizes = [1 if at in gone else n for at, n in enumerate(x.shape) if keepdims or at not in gone]
    if neutral is None and 0 not in sizes:
        raise ValueError("there is no extreme of no values")
    return mx.full(sizes, 0 if neutral is None else neutral, dtype=x.dtype)


def _total(
    reduce: Any, neutral: int, x: Array, axis: Axis, dtype: Any, keepdims: builtins.bool
) -> Array:
    """A sum or product in a dtype; integers wrap around in it."""
    dtype = _default(x) if dtype is None else dtype
    return _reduced(reduce, neutral, x.astype(dtype), axis, keepdims).astype(dtype)


def sum(
    x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: builtins.bool = False
) -> Array:
    """The sum along axes; of integers in 64 bits unless told."""
    return _total(mx.sum, 0, x, axis, dtype, keepdims)


def prod(
    x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: builtins.bool = False
) -> Array:
    """The product along axes; of integers in 64 bits unless told."""
    return _total(mx.prod, 1, x, axis, dtype, keepdims)


def max(x: Array, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The largest along axes, NaN where there is one.

    Raises:
        ValueError: there are no values along the axes.
    """
    return _reduced(mx.max, None, x, axis, keepdims)


def min(x: Array, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The smallest along axes, NaN where there is one.

    Raises:
        ValueError: there are no values along the axes.
    """
    return _reduced(mx.min, None, x, axis, keepdims)


def mean(x: Array, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """The mean along axes."""
    return _reduced(mx.mean, nan, x, axis, keepdims)


def var(
    x: Array, /, *, axis: Axis = None, correction: int = 0, keepdims: builtins.bool = False
) -> Array:
    """The variance along axes."""
    return _reduced(partial(mx.var, ddof=correction), nan, x, axis, keepdims)


def std(
    x: Array, /, *, axis: Axis = None, correction: int = 0, keepdims: builtins.bool = False
) -> Array:
    """The standard deviation along axes."""
    return mx.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def all(x: Array, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """Whether all are true along axes."""
    return _reduced(mx.all, True, x.astype(mx.bool_), axis, keepdims)


def any(x: Array, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """Whether one is true along axes."""
    return _reduced(mx.any, False, x.astype(mx.bool_), axis, keepdims)


def _place(find: Any, x: Array, axis: int | None, keepdims: builtins.bool) -> Array:
    """The first place of an extreme; the first NaN, if there is one, which MLX passes over."""
    if not x.size:
        return _reduced(find, None, x, axis, keepdims).astype(mx.int64)
    if x.dtype == mx.bool_:
        x = x.astype(mx.uint8)
    place = find(x, axis=axis, keepdims=keepdims)
    if x.dtype in FLOATS:
        lost = mx.isnan(x)
        first = mx.argmax(lost.astype(mx.uint8), axis=axis, keepdims=keepdims)
        place = mx.where(mx.any(lost, axis=axis, keepdims=keepdims), first, place)
    return place.astype(mx.int64)


def argmax(x: Array, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Array:
    """The first place of the largest."""
    return _place(mx.argmax, x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Array:
    """The first place of the smallest."""
    return _place(mx.argmin, x, axis, keepdims)


def _line(x: Array, axis: int | None) -> int:
    if axis is None and x.ndim != 1:
        raise ValueError(f"an axis is needed for {x.ndim} dimensions")
    return 0 if axis is None else axis


def _running(
    accumulate: Any, start: int, x: Array, axis: int | None, dtype: Any, initial: builtins.bool
) -> Array:
    axis = _line(x, axis)
    dtype = _default(x) if dtype is None else dtype
    total = accumulate(x.astype(dtype), axis=axis).astype(dtype) if x.size else x.astype(dtype)
    if not initial:
        return total
    shape = [1 if at == axis % x.ndim else n for at, n in enumerate(x.shape)]
    return mx.concatenate([mx.full(shape, start, dtype=dtype), total], axis=axis)


def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: builtins.bool = False,
) -> Array:
    """The running sum along an axis."""
    return _running(mx.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: builtins.bool = False,
) -> Array:
    """The running product along an axis."""
    return _running(mx.cumprod, 1, x, axis, dtype, include_initial)


def sort(
    x: Array, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True
) -> Array:
    """In order along an axis, NaN at the end."""
    del stable  # MLX's always is
    ordered = mx.sort(x, axis=axis) if x.size else x
    return mx.flip(ordered, axis=axis) if descending else ordered


def argsort(
    x: Array, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True
) -> Array:
    """The places that put an axis in order; equal values keep theirs, in either direction."""
    del stable  # MLX's always is
    if not x.size:
        return mx.zeros(x.shape, dtype=mx.int64)
    if not descending:
        return mx.argsort(x, axis=axis).astype(mx.int64)
    turned = mx.argsort(mx.flip(x, axis=axis), axis=axis).astype(mx.int64)
    return x.shape[axis] - 1 - mx.flip(turned, axis=axis)
