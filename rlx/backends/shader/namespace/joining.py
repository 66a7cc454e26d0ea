"""Arrays side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.backends.shader.namespace.creation import asarray, astype, result_type
from rlx.backends.shader.namespace.movement import broadcast_to, expand_dims, reshape
from rlx.backends.shader.tensor import Tensor

MOST = 6
"""How many arrays are joined in one shader; more are joined in groups."""


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Tensor:
    """Side by side along an axis; without one, flattened."""
    given = [asarray(x) for x in arrays]
    dtype = result_type(*given)
    given = [astype(x, dtype) for x in given]
    if axis is None:
        given, axis = [reshape(x, (-1,)) for x in given], 0
    at = axis % given[0].ndim
    shape = given[0].shape
    for x in given[1:]:
        if x.shape[:at] != shape[:at] or x.shape[at + 1 :] != shape[at + 1 :]:
            raise ValueError(f"{x.shape} cannot stand beside {shape} along axis {at}")
    if all(x.host is not None for x in given):
        return Tensor.of_host(np.concatenate([x.known() for x in given], axis=at))
    given = [x for x in given if x.shape[at]] or given[:1]
    while len(given) > MOST:
        given = [_joined(given[n : n + MOST], at) for n in range(0, len(given), MOST)]
        for x in given:
            x.cut = True
    return _joined(given, at)


def _joined(given: list[Tensor], axis: int) -> Tensor:
    if len(given) == 1:
        return given[0]
    size = sum(x.shape[axis] for x in given)
    shape = (*given[0].shape[:axis], size, *given[0].shape[axis + 1 :])
    bounds = None
    if given[0].dtype.kind != "float":
        bounds = min(x.low for x in given), max(x.high for x in given)
    return Tensor("concat", tuple(given), (axis,), shape, given[0].dtype, bounds)


def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> Tensor:
    """Side by side along a new axis."""
    given = [asarray(x) for x in arrays]
    at = axis % (given[0].ndim + 1)
    return concat([expand_dims(x, axis=at) for x in given], axis=at)


def repeat(x: Tensor, repeats: int, /, *, axis: int | None = None) -> Tensor:
    """Each element so many times."""
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    at = axis % x.ndim
    spread = broadcast_to(
        expand_dims(x, axis=at + 1), (*x.shape[: at + 1], int(repeats), *x.shape[at + 1 :])
    )
    return reshape(spread, (*x.shape[:at], x.shape[at] * int(repeats), *x.shape[at + 1 :]))


def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """The whole array so many times, by axis."""
    times = [int(n) for n in repetitions]
    ndim = max(x.ndim, len(times))
    times = [1] * (ndim - len(times)) + times
    sizes = (1,) * (ndim - x.ndim) + x.shape
    lined = reshape(x, tuple(n for size in sizes for n in (1, size)))
    pairs = list(zip(times, sizes, strict=True))
    spread = broadcast_to(lined, tuple(n for pair in pairs for n in pair))
    return reshape(spread, tuple(time * size for time, size in pairs))


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    """Moved along axes, around the end."""
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), x.shape)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = (shift,) * len(axes) if isinstance(shift, int) else tuple(shift)
    for at, by in zip(axes, shifts, strict=True):
        size = x.shape[at]
        if size and by % size:
            cut = size - by % size
            before = (slice(None),) * (at % x.ndim)
            x = concat([x[(*before, slice(cut, None))], x[(*before, slice(0, cut))]], axis=at)
    return x


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Each array spread over the grid that all span."""
    ndim = len(arrays)
    places = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        places[0], places[1] = 1, 0
    shape = [0] * ndim
    for place, x in zip(places, arrays, strict=True):
        shape[place] = x.size
    return [
        broadcast_to(
            reshape(x, tuple(x.size if n == place else 1 for n in range(ndim))), tuple(shape)
        )
        for place, x in zip(places, arrays, strict=True)
    ]


def _tri(x: Tensor, k: int, *, lower: bool) -> Tensor:
    from rlx.backends.shader.namespace.elementwise import where  # which broadcasts

    rows = np.arange(x.shape[-2])[:, None]
    columns = np.arange(x.shape[-1])[None, :]
    kept = columns - rows <= k if lower else columns - rows >= k
    return where(asarray(kept), x, asarray(0, dtype=x.dtype))


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Zeros above a diagonal."""
    return _tri(x, k, lower=True)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Zeros below a diagonal."""
    return _tri(x, k, lower=False)
