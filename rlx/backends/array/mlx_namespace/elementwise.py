"""Functions of each element whose answers in MLX differ from NumPy's, or stop the process.

MLX computes `exp`, `sin` and `cos` of float64 in float32; dividing integers by zero, or the lowest
by -1, ends the process; and `sign` of NaN is 0.
"""

# ruff: noqa: A001 - the standard's names are Python's too

from __future__ import annotations

from typing import Any

import mlx.core as mx

from rlx.backends.array.mlx_namespace.dtypes import FLOATS, INTEGERS, SIGNED

Array = Any


def exp(x: Array, /) -> Array:
    """e to the power of x; in float64 e^|x| is expm1(|x|) + 1, and results below 2^-1022 are 0."""
    if x.dtype != mx.float64:
        return mx.exp(x)
    grown = mx.expm1(mx.abs(x)) + 1.0
    return mx.where(x < 0, 1.0 / grown, grown)


def sin(x: Array, /) -> Array:
    """The sine; in float64 by the tangent of the half angle."""
    if x.dtype != mx.float64:
        return mx.sin(x)
    half = mx.tan(x * 0.5)
    return 2.0 * half / (1.0 + half * half)


def cos(x: Array, /) -> Array:
    """The cosine; in float64 by the tangent of the half angle."""
    if x.dtype != mx.float64:
        return mx.cos(x)
    half = mx.tan(x * 0.5)
    return (1.0 - half) * (1.0 + half) / (1.0 + half * half)


def logaddexp(x1: Array, x2: Array, /) -> Array:
    """log(e^x1 + e^x2), without overflow."""
    if mx.result_type(x1, x2) != mx.float64:
        return mx.logaddexp(x1, x2)
    top = mx.maximum(x1, x2)
    gap = mx.where(x1 == x2, mx.zeros_like(top), mx.abs(x1 - x2))
    return top + mx.log1p(exp(-gap))


def sign(x: Array, /) -> Array:
    """-1, 0 or 1; NaN stays NaN."""
    signs = mx.sign(x)
    return mx.where(mx.isnan(x), x, signs) if x.dtype in FLOATS else signs


def round(x: Array, /) -> Array:
    """To the nearest integer, halves to the even one; integers as they are."""
    return mx.round(x) if x.dtype in FLOATS or x.dtype == mx.complex64 else x


def _paired(x1: Any, x2: Any) -> tuple[Array, Array]:
    """Both as arrays of one dtype; Python's numbers take on the other's."""
    if not isinstance(x1, mx.array):
        x1 = mx.array(x1, dtype=x2.dtype)
    if not isinstance(x2, mx.array):
        x2 = mx.array(x2, dtype=x1.dtype)
    dtype = mx.result_type(x1, x2)
    return x1.astype(dtype), x2.astype(dtype)


def _safe(x2: Array) -> tuple[Array, Array]:
    """A divisor that cannot trap, and where it was zero."""
    zero = x2 == 0
    unsafe = zero | (x2 == -1) if x2.dtype in SIGNED else zero
    return mx.where(unsafe, mx.ones_like(x2), x2), zero


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """The quotient rounded down; of integers by zero it is 0, and by -1 it wraps around."""
    x1, x2 = _paired(x1, x2)
    if x1.dtype in FLOATS:
        return _float_floor_divide(x1, x2)
    if x1.dtype not in INTEGERS:
        return mx.floor_divide(x1, x2)
    divisor, zero = _safe(x2)
    quotient = mx.floor_divide(x1, divisor)
    if x1.dtype in SIGNED:
        # MLX truncates some and floors some: the remainder says what was meant
        rest = x1 - quotient * divisor
        over = (rest != 0) & ((rest < 0) != (divisor < 0))
        quotient = quotient - over.astype(x1.dtype)
        quotient = mx.where(x2 == -1, mx.negative(x1), quotient)
    return mx.where(zero, mx.zeros_like(quotient), quotient)


def _float_floor_divide(x1: Array, x2: Array) -> Array:
    """As Python divides: (x1 - the remainder) / x2, which is a whole number but for rounding."""
    rest = fmod(x1, x2)
    whole = (x1 - rest) / x2
    whole = mx.where((rest != 0) & ((rest < 0) != (x2 < 0)), whole - 1.0, whole)
    return mx.where(x2 == 0, x1 / x2, mx.round(whole))


def remainder(x1: Any, x2: Any, /) -> Array:
    """What is left of a division rounded down: it has the divisor's sign; by zero it is 0."""
    x1, x2 = _paired(x1, x2)
    if x1.dtype not in INTEGERS:
        return mx.remainder(x1, x2)
    divisor, zero = _safe(x2)
    rest = mx.remainder(x1, divisor)
    if x1.dtype in SIGNED:
        rest = mx.where(x2 == -1, mx.zeros_like(rest), rest)
    return mx.where(zero, mx.zeros_like(rest), rest)


def fmod(x1: Any, x2: Any, /) -> Array:
    """What is left of a division rounded toward zero: it has the dividend's sign."""
    x1, x2 = _paired(x1, x2)
    if x1.dtype not in SIGNED and x1.dtype not in FLOATS:
        return remainder(x1, x2)
    if x1.dtype in SIGNED:
        rest = remainder(x1, x2)
        return mx.where((rest != 0) & ((rest < 0) != (x1 < 0)), rest - x2, rest)
    rest = mx.remainder(mx.abs(x1), mx.abs(x2))
    return mx.where(x1 < 0, mx.negative(rest), rest)
