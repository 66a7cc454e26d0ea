"""The same elements elsewhere: shapes, orders, parts, padding. Nothing is copied by these alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from rlx.backends.array.axes import moved
from rlx.backends.shader.tensor import Shape, Tensor


def _moved(x: Tensor, op: str, params: tuple[Any, ...], shape: Shape) -> Tensor:
    """The operation on one array; what is known on the host stays known."""
    return Tensor(op, (x,), params, shape, x.dtype, (x.low, x.high))


def reshape(x: Tensor, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """The same values in another shape; one size may be -1.

    Raises:
        ValueError: they do not fit into it.
    """
    del copy
    sizes = [int(n) for n in ((shape,) if isinstance(shape, int) else shape)]
    if -1 in sizes:
        rest = prod(n for n in sizes if n != -1)
        if sizes.count(-1) > 1 or not rest or x.size % rest:
            raise ValueError(f"{x.size} elements do not fit into {tuple(sizes)}")
        sizes[sizes.index(-1)] = x.size // rest
    if prod(sizes) != x.size:
        raise ValueError(f"{x.size} elements do not fit into {tuple(sizes)}")
    target = tuple(sizes)
    if target == x.shape:
        return x
    if x.host is not None:
        return Tensor.of_host(x.host.reshape(target))
    if x.op == "reshape":
        x = x.args[0]
        if x.shape == target:
            return x
    return _moved(x, "reshape", (), target)


def permute_dims(x: Tensor, /, axes: Sequence[int]) -> Tensor:
    """The axes in another order."""
    order = tuple(axis % x.ndim for axis in axes)
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"{tuple(axes)} is no order of {x.ndim} axes")
    if order == tuple(range(x.ndim)):
        return x
    if x.host is not None:
        return Tensor.of_host(x.host.transpose(order))
    shape = tuple(x.shape[axis] for axis in order)
    moving = [axis for axis in order if x.shape[axis] != 1]
    if moving == sorted(moving):
        return reshape(x, shape)
    return _moved(x, "permute", order, shape)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two axes swapped."""
    return permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """Axes moved to other positions; the others stay in order."""
    return permute_dims(x, moved(x.ndim, source, destination))


def expand_dims(x: Tensor, /, *, axis: Any = 0) -> Tensor:
    """With axes of one element at these positions of the result."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    ndim = x.ndim + len(axes)
    at = {n % ndim for n in axes}
    sizes = iter(x.shape)
    return reshape(x, tuple(1 if n in at else next(sizes) for n in range(ndim)))


def squeeze(x: Tensor, /, axis: Any) -> Tensor:
    """Without axes of one element.

    Raises:
        ValueError: an axis has more.
    """
    gone = {n % x.ndim for n in ((axis,) if isinstance(axis, int) else axis)}
    if any(x.shape[n] != 1 for n in gone):
        raise ValueError(f"axes {tuple(gone)} of {x.shape} do not all have one element")
    return reshape(x, tuple(size for n, size in enumerate(x.shape) if n not in gone))


def broadcast_to(x: Tensor, /, shape: Any) -> Tensor:
    """Repeated along axes of one element and along new ones before the first.

    Raises:
        ValueError: the shapes do not fit.
    """
    target = tuple(int(n) for n in shape)
    if x.shape == target:
        return x
    if x.ndim > len(target):
        raise ValueError(f"{x.shape} cannot be broadcast to {target}")
    lined = (1,) * (len(target) - x.ndim) + x.shape
    if any(size not in (1, wanted) for size, wanted in zip(lined, target, strict=True)):
        raise ValueError(f"{x.shape} cannot be broadcast to {target}")
    if x.host is not None:
        return Tensor.of_host(np.broadcast_to(x.host, target))
    x = reshape(x, lined)
    return x if x.shape == target else _moved(x, "expand", (), target)


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that they all can be broadcast to."""
    return tuple(np.broadcast_shapes(*shapes))


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """All in the shape that they can be broadcast to."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [broadcast_to(x, shape) for x in arrays]


def sliced(x: Tensor, starts: Shape, steps: Shape, sizes: Shape) -> Tensor:
    """Of each axis `sizes` elements, from `starts` on, `steps` apart; steps may be negative."""
    if x.host is not None:
        key = []
        for start, step, size in zip(starts, steps, sizes, strict=True):
            stop: int | None = start + step * size
            key.append(slice(start, None if stop is not None and stop < 0 else stop, step))
            if not size:
                key[-1] = slice(0, 0)
        return Tensor.of_host(x.host[tuple(key)])
    if sizes == x.shape and not any(starts) and all(step == 1 for step in steps):
        return x
    return _moved(x, "slice", (starts, steps), sizes)


def flip(x: Tensor, /, *, axis: Any = None) -> Tensor:
    """In reverse along axes, along all unless told."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    turned = {n % x.ndim for n in axes if x.shape[n]}
    starts = tuple(size - 1 if n in turned else 0 for n, size in enumerate(x.shape))
    steps = tuple(-1 if n in turned else 1 for n in range(x.ndim))
    return sliced(x, starts, steps, x.shape)


def pad(x: Tensor, before: Shape, after: Shape, value: float) -> Tensor:
    """With so many elements of one value before and after, by axis."""
    if not any(before) and not any(after):
        return x
    shape = tuple(b + n + a for b, n, a in zip(before, x.shape, after, strict=True))
    if x.host is not None:
        widths = list(zip(before, after, strict=True))
        return Tensor.of_host(np.pad(x.host, widths, constant_values=value))
    bounds = (x.low, x.high)
    if x.dtype.kind != "float":
        bounds = min(x.low, int(value)), max(x.high, int(value))
    return Tensor("pad", (x,), (before, value), shape, x.dtype, bounds)


def unfold(x: Tensor, kernel: Shape, strides: Shape, dilations: Shape, sizes: Shape) -> Tensor:
    """Windows over the last axes: (..., *kernel, *sizes), `sizes` windows by axis."""
    lead = x.shape[: x.ndim - len(kernel)]
    return _moved(x, "unfold", (strides, dilations), (*lead, *kernel, *sizes))
