"""Slicing and padding."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from rlx.backends.array.kernels.operands import Ints, axis_of, ints, known, present
from rlx.backends.array.kernels.updates import put
from rlx.backends.array.native import is_numpy
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def slices(sizes: Ints, starts: Ints, ends: Ints, axes: Ints, steps: Ints) -> tuple[slice, ...]:
    """The slices that ONNX's Slice means for an array of these sizes.

    Forward slices mean what they mean in Python. A backward slice starts no earlier than 0 in
    ONNX, where Python's may start before it and then is empty.
    """
    chosen = [slice(None)] * len(sizes)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        at = axis_of(axis, len(sizes))
        if step > 0:
            chosen[at] = slice(start, end, step)
            continue
        size = sizes[at]
        first = min(max(start + size if start < 0 else start, 0), size - 1)
        last = min(max(end + size if end < 0 else end, -1), size - 1)
        chosen[at] = slice(first, None if last < 0 else last, step)
    return tuple(chosen)


def _slice(site: Site) -> Kernel:
    def cut(x: Array, starts: Ints, ends: Ints, axes: Ints | None, steps: Ints | None) -> Array:
        axes = tuple(range(len(starts))) if axes is None else axes
        steps = (1,) * len(starts) if steps is None else steps
        return x[slices(tuple(x.shape), starts, ends, axes, steps)]

    starts, ends, axes, steps = (known(site, index) for index in range(1, 5))
    fixed = all(not present(site, at) or known(site, at) is not None for at in range(1, 5))
    if not fixed or starts is None or ends is None:

        def late(
            x: Array,
            starts: Array,
            ends: Array,
            axes: Array | None = None,
            steps: Array | None = None,
        ) -> Array:
            return cut(
                x,
                ints(starts),
                ints(ends),
                None if axes is None else ints(axes),
                None if steps is None else ints(steps),
            )

        return late
    first = site.inputs[0]
    if first is not None and first.ndim is not None and all(step > 0 for step in steps or ()):
        places = tuple(range(len(starts))) if axes is None else axes
        strides = (1,) * len(starts) if steps is None else steps
        chosen = slices((0,) * first.ndim, starts, ends, places, strides)
        return lambda x, *_: x[chosen]
    return lambda x, *_: cut(x, starts, ends, axes, steps)


def _pad(site: Site) -> Kernel:
    """Positive amounts add, negative ones cut off."""
    mode = site.attributes.get("mode", "constant")
    pads, axes = known(site, 1), known(site, 3)
    fixed = pads is not None and (axes is not None or not present(site, 3))
    places = _places(site.xp, mode)

    def run(
        x: Array, pads_: Array, value: Array | None = None, axes_: Array | None = None
    ) -> Array:
        amounts = pads if fixed and pads is not None else ints(pads_)
        chosen = axes if fixed else (None if axes_ is None else ints(axes_))
        before, after = _amounts(x.ndim, amounts, chosen)
        if mode == "constant":
            return _constant_pad(site, x, before, after, value)
        return _index_pad(site.xp, x, before, after, places)

    return Fresh(run)


def _amounts(ndim: int, pads: Ints, axes: Ints | None) -> tuple[list[int], list[int]]:
    before, after = [0] * ndim, [0] * ndim
    places = range(ndim) if axes is None else axes
    count = len(pads) // 2
    for position, axis in zip(range(count), places, strict=True):
        at = axis_of(axis, ndim)
        before[at], after[at] = pads[position], pads[position + count]
    return before, after


def _constant_pad(
    site: Site, x: Array, before: list[int], after: list[int], value: Array | None
) -> Array:
    xp = site.xp
    sizes = tuple(n + b + a for n, b, a in zip(x.shape, before, after, strict=True))
    if value is None:
        empty = "" if x.dtype == object else 0
        result = xp.full(sizes, empty, dtype=x.dtype)
    else:
        result = xp.broadcast_to(xp.reshape(value, ()), sizes)
        result = xp.asarray(result, dtype=x.dtype, copy=True)
    inner, source = [], []
    for size, low, high in zip(x.shape, before, after, strict=True):
        inner.append(slice(max(low, 0), max(low, 0) + size + min(low, 0) + min(high, 0)))
        source.append(slice(max(-low, 0), size - max(-high, 0)))
    return put(result, tuple(inner), x[tuple(source)])


def _index_pad(
    xp: Any, x: Array, before: list[int], after: list[int], places: Callable[[int, int, int], Array]
) -> Array:
    """Each padded axis takes its elements from inside the array, which has some."""
    for axis, (low, high) in enumerate(zip(before, after, strict=True)):
        if low or high:
            x = xp.take(x, places(x.shape[axis], low, high), axis=axis)
    if not any(before) and not any(after):
        return xp.asarray(x, copy=True)
    return x


def _places(xp: Any, mode: str) -> Callable[[int, int, int], Array]:
    """Where an axis's padded elements come from: (its size, how many before, how many after)."""

    def find(size: int, low: int, high: int) -> Array:
        at = xp.arange(-low, size + high, dtype=xp.int64)
        if mode == "edge":
            return xp.minimum(xp.maximum(at, 0), size - 1)
        if mode == "wrap":
            return at % size
        return size - 1 - xp.abs(size - 1 - at % max(2 * size - 2, 1)) if size > 1 else at * 0

    return lru_cache(maxsize=64)(find) if is_numpy(xp) else find  # a tracer must not be kept


HOST = {"Slice": (1, 2, 3, 4), "Pad": (1, 3)}
KERNELS: dict[str, Builder] = {
    "Slice": _slice,
    "Pad": _pad,
}
