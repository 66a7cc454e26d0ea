"""Values of every dtype that MLX has, corners among them, and what NumPy makes of them."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SIGNED = INTEGERS[:4]
FLOATS = ("float16", "float32", "float64")
NUMBERS = (*INTEGERS, *FLOATS)
EVERY = ("bool", *NUMBERS)
SMALL = st.sampled_from([(), (3,), (2, 3), (2, 1, 4)])
TOLERANCE = {"float16": 2e-3, "float32": 4e-6, "float64": 1e-12, "complex64": 1e-5}
PRECISE = settings(max_examples=10, deadline=None)


def extremes(dtype):
    """Values of a dtype, its corners among them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        corners = {limits.min, limits.max, limits.max // 2, 0, 1, 2, 3, 7}
        corners |= {-1, -2, -7} if limits.min else set()
        return st.sampled_from(sorted(corners)) | st.integers(limits.min, limits.max)
    limits = np.finfo(dtype)
    corners = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, limits.max, limits.min, limits.tiny]
    corners += [0.5, 1.5, 2.5, -0.5, -1.5, 3.75, -3.75, 11, -11, 100.5]
    corners = [float(value) for value in corners]
    return st.sampled_from(corners) | st.floats(-50, 50, width=16)


def arrays(dtype, shape=SMALL):
    return hnp.arrays(dtype, shape, elements=extremes(dtype))


def as_native(x):
    from rlx.backends.array.mlx_namespace.dtypes import from_host

    return from_host(x)


def to_host(x):
    from rlx.backends.array.mlx_namespace import dtypes

    return dtypes.to_host(x)


def assert_same(found, wanted):
    """Equal in dtype, shape and value, within a rounding of what the dtype holds."""
    found, wanted = to_host(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind in "fc":
        limit = TOLERANCE[wanted.dtype.name]
        tiny = float(np.finfo(wanted.dtype).tiny)
        np.testing.assert_allclose(found, wanted, rtol=limit, atol=max(tiny, limit * 1e-3))
    else:
        np.testing.assert_array_equal(found, wanted)


def namespace():
    import rlx.backends.array.mlx_namespace as xp

    return xp
