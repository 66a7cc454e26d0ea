"""NumPy as an array library: the numpy backend's, and every other one's on the host."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Any

import array_api_compat.numpy as xp
import numpy as np

from rlx.backends.array.dtypes import name_of, numpy_dtype
from rlx.backends.array.library import Library
from rlx.backends.array.native_numpy_kernels import OVERRIDES


def _quietly() -> Callable[..., Any]:
    """Calls a function with NumPy's floating-point warnings off.

    NumPy keeps them in a context variable, so entering a copy of a context where they are off
    does it, for this call alone, in a tenth of the time of `np.errstate`.
    """
    quiet = Context()
    quiet.run(np.seterr, all="ignore")

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        return quiet.copy().run(function, *arguments)

    return call


NUMPY = Library(
    name="numpy",
    xp=xp,
    version=np.__version__,
    device="cpu",
    to_native=np.asarray,
    owns=lambda value: type(value) is np.ndarray,  # a subclass may compute in its own way
    copy=partial(np.array, order="C"),
    guard=_quietly(),
    dtype=numpy_dtype,
    name_of=lambda array: name_of(array.dtype),
    overrides=OVERRIDES,
    host=True,
)
