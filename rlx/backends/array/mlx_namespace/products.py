"""Matrix products, of integers too, which MLX refuses; determinants and Fourier transforms."""

# ruff: noqa: A004 - the standard's names are Python's too

from __future__ import annotations

from typing import Any

import mlx.core as mx

from rlx.backends.array.mlx_namespace.dtypes import FLOATS
from rlx.backends.array.mlx_namespace.reduction import sum

Array = Any
ELEMENTS = 1 << 22
"""How many products of integers may be held at once: beyond, they are made in turns."""


def matmul(x1: Array, x2: Array, /) -> Array:
    """The matrix product; integers are exact and wrap around."""
    dtype = mx.result_type(x1, x2)
    if (dtype in FLOATS or dtype == mx.complex64) and x1.size and x2.size:
        return mx.matmul(x1, x2)
    x1, x2 = x1.astype(dtype), x2.astype(dtype)
    rows = mx.expand_dims(x1, 0) if x1.ndim == 1 else x1
    columns = mx.expand_dims(x2, -1) if x2.ndim == 1 else x2
    product = _whole_numbers(rows, columns, dtype)
    if x2.ndim == 1:
        product = mx.squeeze(product, -1)
    return mx.squeeze(product, -2 if x2.ndim > 1 else -1) if x1.ndim == 1 else product


def _whole_numbers(x1: Array, x2: Array, dtype: Any) -> Array:
    """The sum over the shared axis of outer products, as many at a time as memory allows."""
    depth = x1.shape[-1]
    if depth != x2.shape[-2]:
        raise ValueError(f"shapes {tuple(x1.shape)} and {tuple(x2.shape)} do not match")
    outer = mx.expand_dims(x1, -1)[..., :0, :] * mx.expand_dims(x2, -3)[..., :0, :]
    shape = (*outer.shape[:-2], outer.shape[-1])
    if not depth:
        return mx.zeros(shape, dtype=dtype)
    size = 1
    for n in shape:
        size *= n
    step = min(depth, max(1, ELEMENTS // max(size, 1)))
    total = None
    for start in range(0, depth, step):
        left = mx.expand_dims(x1[..., start : start + step], -1)
        right = mx.expand_dims(x2[..., start : start + step, :], -3)
        part = sum(left * right, axis=-2, dtype=dtype)
        total = part if total is None else total + part
    return total


def matrix_transpose(x: Array, /) -> Array:
    """The last two axes swapped."""
    return mx.swapaxes(x, -1, -2)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The sum of products along an axis."""
    product = mx.conjugate(x1) * x2 if x1.dtype == mx.complex64 else x1 * x2
    return sum(product, axis=axis, dtype=product.dtype)


def einsum(equation: str, *operands: Array) -> Array:
    """Sums of products by an equation; narrow integers keep their dtype."""
    dtype = mx.result_type(*operands)
    return mx.einsum(equation, *(x.astype(dtype) for x in operands)).astype(dtype)


def det(x: Array, /) -> Array:
    """The determinant of each matrix, on the CPU, where MLX has it."""
    return mx.linalg.det(x, stream=mx.cpu)


def _single(x: Array) -> Array:
    if x.dtype == mx.float64:
        raise NotImplementedError("mlx has no Fourier transform in float64")
    return x


def fft(x: Array, /, *, n: int | None = None, axis: int = -1) -> Array:
    """The discrete Fourier transform along an axis, in complex64."""
    return mx.fft.fft(_single(x), n=n, axis=axis)


def ifft(x: Array, /, *, n: int | None = None, axis: int = -1) -> Array:
    """The inverse of `fft`."""
    return mx.fft.ifft(_single(x), n=n, axis=axis)


def rfft(x: Array, /, *, n: int | None = None, axis: int = -1) -> Array:
    """The half of `fft` that real values have."""
    return mx.fft.rfft(_single(x), n=n, axis=axis)


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1) -> Array:
    """The inverse of `rfft`."""
    return mx.fft.irfft(_single(x), n=n, axis=axis)
