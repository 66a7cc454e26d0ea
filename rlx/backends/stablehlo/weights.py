"""Weights beside a module: their bytes one after the other, each at a multiple of 64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALIGNMENT = 64
"""As wide as any vector that a processor loads at once, and a line of its cache."""


def pack(weights: Iterable[np.ndarray[Any, Any]]) -> bytes:
    """The arrays' bytes in C order; the module says what they are."""
    made = bytearray()
    for x in weights:
        made += bytes(-len(made) % ALIGNMENT)
        made += np.ascontiguousarray(x).tobytes()
    return bytes(made)


def unpack(
    data: bytes, types: Sequence[tuple[np.dtype[Any], tuple[int, ...]]]
) -> list[np.ndarray[Any, Any]]:
    """The arrays, which share the memory of `data`; each has a dtype and a shape.

    Raises:
        ValueError: `data` has another length than they take.
    """
    found = []
    at = 0
    for dtype, shape in types:
        at += -at % ALIGNMENT
        count = int(np.prod(shape, dtype=np.int64))
        end = at + count * dtype.itemsize
        if end > len(data):
            break
        flat = np.frombuffer(data, dtype, count, at) if count else np.empty(0, dtype)
        found.append(flat.reshape(shape))
        at = end
    if len(found) != len(types) or at != len(data):
        raise ValueError(f"the weights take another length than the {len(data)} bytes there are")
    return found
