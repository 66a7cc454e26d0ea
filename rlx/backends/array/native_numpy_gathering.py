"""Gathering along an axis in NumPy, into memory that is used again."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.backends.array.native_numpy_scratch import scratch

Array = np.ndarray[Any, Any]


def take_for_now(_xp: Any, x: Array, indices: Array, axis: int) -> Array:
    """What is at the indices along an axis, until this thread's next call."""
    shape = (*x.shape[:axis], indices.shape[0], *x.shape[axis + 1 :])
    return np.take(x, indices, axis=axis, out=scratch("taken", shape, x.dtype), mode="clip")
