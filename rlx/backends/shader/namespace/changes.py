"""Changed copies of arrays: at slices, and at indices, each of which may come several times."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.backends.shader import dtypes as dt
from rlx.backends.shader.namespace.creation import asarray, astype, like
from rlx.backends.shader.namespace.elementwise import (
    equal,
    greater,
    maximum,
    minimum,
    where,
)
from rlx.backends.shader.namespace.indexing import expanded, getitem, is_array, pick
from rlx.backends.shader.namespace.movement import (
    broadcast_to,
    expand_dims,
    pad,
    reshape,
    sliced,
)
from rlx.backends.shader.namespace.reduction import max as max_of
from rlx.backends.shader.namespace.reduction import min as min_of
from rlx.backends.shader.namespace.reduction import prod as prod_of
from rlx.backends.shader.namespace.reduction import sum as sum_of
from rlx.backends.shader.tensor import Tensor


class Changes:
    """`array.at[where]`: what makes changed copies of an array."""

    def __init__(self, array: Tensor):
        self.array = array
        self.key: Any = None

    def __getitem__(self, key: Any) -> Changes:
        self.key = key
        return self

    def set(self, value: Any) -> Tensor:
        """With the value there; of several for one place, the last."""
        return self._changed(value, "set")

    def add(self, value: Any) -> Tensor:
        """With the value added."""
        return self._changed(value, "add")

    def multiply(self, value: Any) -> Tensor:
        """Multiplied by the value."""
        return self._changed(value, "multiply")

    def max(self, value: Any) -> Tensor:
        """The larger of both."""
        return self._changed(value, "max")

    def min(self, value: Any) -> Tensor:
        """The smaller of both."""
        return self._changed(value, "min")

    def _changed(self, value: Any, how: str) -> Tensor:
        x = self.array
        update = astype(like(value, x), x.dtype)
        entries = expanded(x, self.key)
        if any(is_array(one) for one in entries):
            return _scattered(x, entries, update, how)
        if how == "set":
            return _placed(x, entries, update)
        there = getitem(x, self.key)
        return _placed(x, entries, _COMBINED[how](there, broadcast_to(update, there.shape)))


_COMBINED: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "max": maximum,
    "min": minimum,
}


def _placed(x: Tensor, entries: list[Any], update: Tensor) -> Tensor:
    """Slices and integers: the update padded to the array's shape, where the key names it."""
    inner: list[int] = []
    named = []
    axes = iter(range(x.ndim))
    spans: list[tuple[int, int, int]] = []
    for one in entries:
        if one is None:
            inner.append(1)
            continue
        size = x.shape[next(axes)]
        if isinstance(one, slice):
            start, stop, step = one.indices(size)
            count = len(range(start, stop, step))
            if step < 0 and count:
                raise NotImplementedError("shaders do not write backwards")
            inner.append(count)
        else:
            start, step, count = int(one) % size, 1, 1
        spans.append((start, step, count))
        named.append(count)
    update = reshape(broadcast_to(update, tuple(inner)), tuple(named))
    if not update.size:
        return x
    for axis, (_, step, count) in enumerate(spans):
        if step > 1 and count > 1:  # with gaps between
            update = expand_dims(update, axis=axis + 1)
            after = [0] * update.ndim
            after[axis + 1] = step - 1
            update = pad(update, (0,) * update.ndim, tuple(after), 0)
            shape = list(update.shape)
            shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
            update = reshape(update, tuple(shape))
            reach = (count - 1) * step + 1
            update = sliced(
                update,
                (0,) * update.ndim,
                (1,) * update.ndim,
                tuple(reach if n == axis else size for n, size in enumerate(update.shape)),
            )
    before = tuple(start for start, _, _ in spans)
    after_ = tuple(
        size - start - n for size, start, n in zip(x.shape, before, update.shape, strict=True)
    )
    laid = pad(update, before, after_, 0)
    if laid is update and all(step == 1 for _, step, _ in spans):
        return update
    here = np.ones((), bool)
    for axis, (size, (start, step, count)) in enumerate(zip(x.shape, spans, strict=True)):
        line = np.zeros(size, bool)
        line[start : start + (count - 1) * step + 1 : step] = True
        here = here & line.reshape(tuple(size if n == axis else 1 for n in range(x.ndim)))
    return where(asarray(here), laid, x)


def _scattered(x: Tensor, entries: list[Any], update: Tensor, how: str) -> Tensor:
    """Index arrays: each element of the array looks through all updates for its own.

    Raises:
        NotImplementedError: there are too many of them for that.
    """
    places_of = reshape(asarray(np.arange(x.size, dtype=np.int64)), x.shape)
    key = tuple(entries)
    targets = getitem(places_of, key)
    values = reshape(broadcast_to(update, targets.shape), (-1,))
    targets = reshape(targets, (-1,))
    count = targets.size
    if not count or not x.size:
        return x
    if count * x.size > 1 << 26:
        raise NotImplementedError(f"{count} updates of {x.size} elements are too many")
    targets.cut = True
    wanted = asarray(np.arange(x.size, dtype=np.int64).reshape(-1, 1))
    hit = equal(reshape(targets, (1, -1)), wanted)  # (elements, updates)
    flat = reshape(x, (-1,))
    if how == "set":
        turn = asarray(np.arange(count, dtype=np.int64).reshape(1, -1))
        last = max_of(where(hit, turn, asarray(-1, dtype=dt.int64)), axis=1)
        chosen = pick(values, maximum(last, 0))
        return reshape(where(greater(last, -1), chosen, flat), x.shape)
    neutral: Any = {"add": 0, "multiply": 1}.get(how)
    row = reshape(values, (1, -1))
    if neutral is None:
        own = reshape(flat, (-1, 1))
        shown = where(hit, row, own)
        found = (max_of if how == "max" else min_of)(shown, axis=1)
        return reshape(_COMBINED[how](flat, found), x.shape)
    shown = where(hit, row, asarray(neutral, dtype=x.dtype))
    reduce = sum_of if how == "add" else prod_of
    found = reduce(shown, axis=1, dtype=x.dtype)
    return reshape(_COMBINED[how](flat, found), x.shape)
