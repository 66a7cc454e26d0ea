"""Looking values up in tables of keys: numbers by bisection, strings by hash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlx.backends.array.site import Array


def index_of(keys: Sequence[Any] | Array) -> Callable[[Array], Array]:
    """A function that gives each value's place among the keys, or -1.

    Numbers are equal by value, NaN to NaN; keys are distinct.
    """
    held = np.asarray(keys, dtype=object if _are_texts(keys) else None)
    if held.dtype == object:
        places = {key: place for place, key in enumerate(held.tolist())}
        return lambda x: np.fromiter(
            (places.get(text, -1) for text in x.ravel().tolist()), np.int64, x.size
        ).reshape(x.shape)
    order = np.argsort(held, kind="stable")  # NaN comes last
    ranked = held[order]

    def find(x: Array) -> Array:
        if not len(ranked):
            return np.full(x.shape, -1, np.int64)
        at = np.maximum(np.searchsorted(ranked, x, side="right") - 1, 0)
        same = (ranked[at] == x) | ((ranked[at] != ranked[at]) & (x != x))
        return np.where(same, order[at], -1)

    return find


def _are_texts(keys: Sequence[Any] | Array) -> bool:
    return len(keys) > 0 and isinstance(keys[0], str | bytes)
