"""jax.numpy as kernels expect a namespace: where XLA parts from NumPy's meaning, NumPy's holds."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

NARROW = frozenset({"int2", "int4", "uint2", "uint4", "int8", "uint8", "int16", "uint16"})
"""Integers that NumPy makes of floats by way of int32."""


def namespace(device: str) -> Any:
    """`jax.numpy` with NumPy's conversions, and with products in full precision.

    `device` is the platform: `cpu`, `cuda`, `rocm` or `tpu`.
    """
    import jax
    import jax.numpy as jnp

    highest = jax.lax.Precision.HIGHEST
    return _Namespace(
        jnp,
        astype=astype,
        divide=divide if device == "cpu" else divide_wide,
        scan=jax.lax.scan,
        matmul=partial(jnp.matmul, precision=highest),
        tensordot=partial(jnp.tensordot, precision=highest),
        vecdot=partial(jnp.vecdot, precision=highest),
        einsum=partial(jnp.einsum, precision=highest),
    )


class _Namespace:
    """The names of `jax.numpy`, some of them replaced."""

    def __init__(self, library: Any, **replaced: Any):
        self._library = library
        self.__name__ = library.__name__
        for name, value in replaced.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._library, name)
        setattr(self, name, found)
        return found


def divide(x: Any, y: Any) -> Any:
    """The quotient, correctly rounded.

    By a divisor that is broadcast, XLA divides by multiplying with its reciprocal, and 49 / 49 is
    not 1 then; so it is kept from seeing that.
    """
    import jax
    import jax.numpy as jnp

    shape = jnp.broadcast_shapes(jnp.shape(x), jnp.shape(y))
    if jnp.shape(y) != shape:
        y = jax.lax.optimization_barrier(jnp.broadcast_to(y, shape))
    return jnp.divide(x, y)


def divide_wide(x: Any, y: Any) -> Any:
    """The quotient, correctly rounded where XLA's own of float32 is not, as on GPUs.

    There it is off by up to two units in the last place, and an integer that it is rounded to
    is another one then. A quotient of float64, rounded once more, is right: 53 bits are more than
    twice 24 and two (Figueroa, 1995).
    """
    import jax
    import jax.numpy as jnp

    dtype = jnp.result_type(x, y)
    if dtype.itemsize > 4 or not jnp.issubdtype(dtype, jnp.floating):
        return divide(x, y)
    x, y = (jnp.astype(jnp.asarray(value), jnp.float64) for value in (x, y))
    y = jax.lax.optimization_barrier(y)  # XLA would divide in float32 again
    return jnp.astype(divide(x, y), dtype)


def astype(x: Any, dtype: Any, *, copy: bool = True) -> Any:
    """The array at another dtype; a float that no integer stands for becomes what NumPy makes it.

    XLA takes the nearest integer there is, C leaves it open, and NumPy does what processors do:
    the lowest int32 or int64, cut to the width that is asked for.
    """
    import jax.numpy as jnp

    dtype = jnp.dtype(dtype)
    if jnp.isdtype(dtype, "complex floating") or dtype == jnp.bool_:
        return jnp.astype(x, dtype, copy=copy)
    if jnp.isdtype(x.dtype, "complex floating"):
        x = jnp.real(x)
    if not _is_integer(dtype) or _is_integer(x.dtype) or x.dtype == jnp.bool_:
        return jnp.astype(x, dtype, copy=copy)
    if x.dtype.itemsize == 1:
        return _of_narrow(jnp.astype(x, jnp.float32), dtype)
    half_precision = x.dtype == jnp.float16
    if x.dtype not in (jnp.float32, jnp.float64):
        x = jnp.astype(x, jnp.float32)
    if dtype.name in NARROW:
        return jnp.astype(_truncated(x, np.int32), dtype)
    wide = np.dtype(f"int{dtype.itemsize * 8}")
    if dtype.kind == "i":
        return _truncated(x, wide)
    if half_precision and dtype == jnp.uint32:
        return jnp.astype(_truncated(x, np.int64), dtype)
    half = 2.0 ** (dtype.itemsize * 8 - 1)
    high = _truncated(x - half, wide) ^ np.iinfo(wide).min
    return jnp.astype(jnp.where(x >= half, high, _truncated(x, wide)), dtype)


def _of_narrow(x: Any, dtype: Any) -> Any:
    """Of floats of 8 bits and fewer, as ml_dtypes does it: NaN is 0, infinities are the limits."""
    import jax.numpy as jnp

    step = dtype
    if dtype.name[-1] in "24" and dtype.name[-2] == "t":
        step = jnp.dtype(jnp.uint8 if dtype.name[0] == "u" else jnp.int8)
    limits = np.iinfo(step)
    finite = jnp.astype(jnp.where(jnp.isfinite(x), x, 0), jnp.int64)
    y = jnp.where(x == jnp.inf, jnp.asarray(limits.max, step), jnp.astype(finite, step))
    return jnp.astype(jnp.where(x == -jnp.inf, jnp.asarray(limits.min, step), y), dtype)


def _is_integer(dtype: Any) -> bool:
    import jax.numpy as jnp

    return bool(jnp.isdtype(dtype, "integral"))


def _truncated(x: Any, dtype: Any) -> Any:
    """Floats rounded toward zero; the lowest integer where they are out of range, or NaN."""
    import jax.numpy as jnp

    limits = np.iinfo(dtype)
    inside = (x >= float(limits.min)) & (x < -float(limits.min))
    return jnp.where(inside, jnp.astype(x, dtype), jnp.asarray(limits.min, dtype=dtype))
