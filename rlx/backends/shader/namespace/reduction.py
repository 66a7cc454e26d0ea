"""Reductions, running totals and orders, with the dtypes and NaN of the standard and NumPy."""

# ruff: noqa: A001 - the standard's names are Python's too

from __future__ import annotations

import builtins
from collections.abc import Callable
from math import prod as _prod
from typing import Any

import numpy as np

from rlx.backends.shader import dtypes as dt
from rlx.backends.shader.dtypes import Dtype
from rlx.backends.shader.namespace.creation import asarray, astype, full
from rlx.backends.shader.namespace.elementwise import (
    bitwise_and,
    bitwise_or,
    divide,
    equal,
    isnan,
    less,
    sqrt,
    subtract,
    where,
)
from rlx.backends.shader.namespace.movement import expand_dims, flip, reshape
from rlx.backends.shader.tensor import Shape, Tensor

Axis = int | tuple[int, ...] | None


def axes_of(x: Tensor, axis: Axis) -> Shape:
    """The axes that are meant, counted from the front, in order."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(sorted({n % x.ndim for n in ((axis,) if isinstance(axis, int) else axis)}))


def _reduced(name: str, neutral: Any, x: Tensor, axis: Axis, keepdims: builtins.bool) -> Tensor:
    """The reduction along axes; of no values, what is neutral to it."""
    axes = axes_of(x, axis)
    kept = tuple(1 if n in axes else size for n, size in enumerate(x.shape))
    shape = kept if keepdims else tuple(n for at, n in enumerate(x.shape) if at not in axes)
    if 0 in x.shape:
        if neutral is None and 0 not in shape:
            raise ValueError("there is no extreme of no values")
        return full(shape, 0 if neutral is None else neutral, dtype=x.dtype)
    if builtins.all(x.shape[n] == 1 for n in axes):
        return reshape(x, shape)
    terms = _prod(x.shape[n] for n in axes)
    bounds: tuple[int, int] | None = (x.low, x.high)
    if name == "sum":
        bounds = builtins.min(x.low * terms, x.low), builtins.max(x.high * terms, x.high)
    elif name == "prod":
        bounds = None
    return reshape(Tensor("reduce", (x,), (name, axes), kept, x.dtype, bounds), shape)


def _on_host(
    function: Callable[..., Any], x: Tensor, axis: Axis, keepdims: Any, **more: Any
) -> Any:
    with np.errstate(all="ignore"):
        axes = tuple(axis) if isinstance(axis, list) else axis
        return Tensor.of_host(np.asarray(function(x.host, axis=axes, keepdims=keepdims, **more)))


def _default(x: Tensor) -> Dtype:
    """What sums and products are made in, unless told: integers in 64 bits, floats as they are."""
    if x.dtype.kind == "float":
        return x.dtype
    return dt.uint64 if x.dtype.kind == "uint" else dt.int64


def sum(
    x: Tensor, /, *, axis: Axis = None, dtype: Dtype | None = None, keepdims: builtins.bool = False
) -> Tensor:
    """The sum along axes; of integers in 64 bits unless told."""
    kind = _default(x) if dtype is None else dtype
    if x.host is not None:
        return _on_host(np.sum, x, axis, keepdims, dtype=kind.numpy)  # type: ignore[no-any-return]
    return _reduced("sum", 0, astype(x, kind), axis, keepdims)


def prod(
    x: Tensor, /, *, axis: Axis = None, dtype: Dtype | None = None, keepdims: builtins.bool = False
) -> Tensor:
    """The product along axes; of integers in 64 bits unless told."""
    kind = _default(x) if dtype is None else dtype
    if x.host is not None:
        return _on_host(np.prod, x, axis, keepdims, dtype=kind.numpy)  # type: ignore[no-any-return]
    return _reduced("prod", 1, astype(x, kind), axis, keepdims)


def max(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
    """The largest along axes, NaN where there is one.

    Raises:
        ValueError: there are no values along the axes.
    """
    if x.host is not None:
        return _on_host(np.max, x, axis, keepdims)  # type: ignore[no-any-return]
    return _reduced("max", None, x, axis, keepdims)


def min(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
    """The smallest along axes, NaN where there is one.

    Raises:
        ValueError: there are no values along the axes.
    """
    if x.host is not None:
        return _on_host(np.min, x, axis, keepdims)  # type: ignore[no-any-return]
    return _reduced("min", None, x, axis, keepdims)


def all(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
    """Whether all are true along axes."""
    if x.host is not None:
        return _on_host(np.all, x, axis, keepdims)  # type: ignore[no-any-return]
    return _reduced("min", True, astype(x, dt.bool_), axis, keepdims)


def any(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
    """Whether one is true along axes."""
    if x.host is not None:
        return _on_host(np.any, x, axis, keepdims)  # type: ignore[no-any-return]
    return _reduced("max", False, astype(x, dt.bool_), axis, keepdims)


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
    """The mean along axes."""
    count = float(_prod(x.shape[n] for n in axes_of(x, axis)))
    return divide(sum(x, axis=axis, keepdims=keepdims), count)


def var(
    x: Tensor, /, *, axis: Axis = None, correction: float = 0, keepdims: builtins.bool = False
) -> Tensor:
    """The variance along axes."""
    off = x - mean(x, axis=axis, keepdims=True)
    count = _prod(x.shape[n] for n in axes_of(x, axis)) - correction
    return divide(sum(off * off, axis=axis, keepdims=keepdims), float(count))


def std(
    x: Tensor, /, *, axis: Axis = None, correction: float = 0, keepdims: builtins.bool = False
) -> Tensor:
    """The standard deviation along axes."""
    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))  # type: ignore[no-any-return]


def _line(x: Tensor, axis: int) -> Tensor:
    """The places along an axis, in the shape of the axis."""
    size = x.shape[axis]
    shape = tuple(size if n == axis else 1 for n in range(x.ndim))
    return reshape(asarray(np.arange(size, dtype=np.int64)), shape)


def _place(reduce: Any, x: Tensor, axis: int | None, keepdims: builtins.bool) -> Tensor:
    """The first place of an extreme; of NaN, where there is one."""
    if axis is None:
        ndim, flat = x.ndim, reshape(x, (-1,))
        found = _place(reduce, flat, 0, False)
        return reshape(found, (1,) * ndim) if keepdims else found
    at = axis % x.ndim
    top = reduce(x, axis=at, keepdims=True)
    hit = equal(x, top)
    if x.dtype.kind == "float":
        hit = bitwise_or(hit, isnan(x))
    size = x.shape[at]
    place = where(hit, _line(x, at), asarray(size - 1, dtype=dt.int64))
    return min(place, axis=at, keepdims=keepdims)


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Tensor:
    """The first place of the largest."""
    return _place(max, x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Tensor:
    """The first place of the smallest."""
    return _place(min, x, axis, keepdims)


MOST = 1 << 13
"""How long a line may be whose elements are each compared, or summed, with all others."""


def _across(x: Tensor, at: int) -> tuple[Tensor, Tensor, Tensor]:
    """Each element beside every other of its line, and the other's place beside its own.

    Raises:
        NotImplementedError: the lines are too long for this.
    """
    size = x.shape[at]
    if size > MOST:
        raise NotImplementedError(f"a line of {size} elements; shaders take {MOST}")
    own, other = expand_dims(x, axis=at + 1), expand_dims(x, axis=at)
    shape = (1,) * at + (size, size) + (1,) * (x.ndim - at - 1)
    places = np.arange(size)
    before = (places[None, :] < places[:, None]).reshape(shape)
    return own, other, asarray(before)


def _running(name: str, x: Tensor, axis: int | None, dtype: Dtype | None, initial: Any) -> Tensor:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an axis is needed for {x.ndim} dimensions")
        axis = 0
    at = axis % x.ndim
    kind = _default(x) if dtype is None else dtype
    x = astype(x, kind)
    if x.host is not None:
        function = np.cumsum if name == "sum" else np.cumprod
        total = Tensor.of_host(function(x.host, axis=at, dtype=kind.numpy))
    elif 0 in x.shape:
        total = x
    else:
        neutral = asarray(0 if name == "sum" else 1, dtype=kind)
        _, other, before = _across(x, at)
        size = x.shape[at]
        shape = (1,) * at + (size, size) + (1,) * (x.ndim - at - 1)
        within = bitwise_or(before, asarray(np.eye(size, dtype=bool).reshape(shape)))
        total = _reduced(name, 0, where(within, other, neutral), at + 1, False)
    if not initial:
        return total
    from rlx.backends.shader.namespace.joining import concat  # which reduces nothing

    edge = tuple(1 if n == at else size for n, size in enumerate(x.shape))
    return concat([full(edge, 0 if name == "sum" else 1, dtype=kind), total], axis=at)


def cumulative_sum(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: Dtype | None = None,
    include_initial: builtins.bool = False,
) -> Tensor:
    """The running sum along an axis."""
    return _running("sum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: Dtype | None = None,
    include_initial: builtins.bool = False,
) -> Tensor:
    """The running product along an axis."""
    return _running("prod", x, axis, dtype, include_initial)


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True
) -> Tensor:
    """The places that put an axis in order, NaN last; equal values keep theirs.

    Each element's rank is how many others come before it; then the place of each rank is looked up.
    """
    del stable
    if not x.size:
        return full(x.shape, 0, dtype=dt.int64)
    at = axis % x.ndim
    size = x.shape[at]
    if descending:
        turned = argsort(flip(x, axis=at), axis=at)
        return subtract(asarray(size - 1, dtype=dt.int64), flip(turned, axis=at))  # type: ignore[no-any-return]
    own, other, before = _across(x, at)
    precedes = bitwise_or(less(other, own), bitwise_and(before, equal(other, own)))
    if x.dtype.kind == "float":
        lost, others_lost = isnan(own), isnan(other)
        among_lost = bitwise_and(bitwise_and(lost, others_lost), before)
        precedes = bitwise_or(bitwise_or(precedes, among_lost), bitwise_and(lost, ~others_lost))
    rank = sum(astype(precedes, dt.int64), axis=at + 1)
    rank.low, rank.high = 0, size - 1
    ranks = expand_dims(rank, axis=at)  # (…, 1, size, …), against (…, size, 1, …)
    shape = (1,) * at + (size, 1) + (1,) * (x.ndim - at - 1)
    wanted = asarray(np.arange(size, dtype=np.int64).reshape(shape))
    places = asarray(
        np.arange(size, dtype=np.int64).reshape((1,) * at + (1, size) + shape[at + 2 :])
    )
    return max(where(equal(ranks, wanted), places, asarray(0, dtype=dt.int64)), axis=at + 1)


def sort(
    x: Tensor, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True
) -> Tensor:
    """In order along an axis, NaN at the end."""
    del stable
    from rlx.backends.shader.namespace.indexing import take_along_axis  # which reduces nothing

    order = argsort(x, axis=axis, descending=descending)
    return take_along_axis(x, order, axis=axis)
