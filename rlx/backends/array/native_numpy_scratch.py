"""Working memory for NumPy kernels: one growing buffer per thread and purpose, used again."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class _Buffers(threading.local):
    """The calling thread's buffers, by purpose."""

    def __init__(self) -> None:
        self.by_purpose: dict[str, Array] = {}


_buffers = _Buffers()


def scratch(purpose: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """A C-contiguous array of this shape with undefined content.

    The next request for the same purpose in the same thread gets the same memory: never return
    it from a kernel, and never hold two of one purpose.
    """
    count = 1
    for size in shape:
        count *= size
    needed = count * dtype.itemsize
    buffer = _buffers.by_purpose.get(purpose)
    if buffer is None or buffer.nbytes < needed:
        buffer = _buffers.by_purpose[purpose] = np.empty(needed, np.uint8)
    return np.ndarray(shape, dtype, buffer)
