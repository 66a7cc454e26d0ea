"""The array API standard's functions over MLX, which has most of them under other terms.

Where MLX answers as NumPy does, its own function is here; where not, one that does is. What MLX
has no means for is absent. Arrays are MLX's own: lazy, and computed when they are evaluated.
"""

# ruff: noqa: A001, A004, F401, F811 - the standard's names are Python's too

from __future__ import annotations

import builtins
from types import SimpleNamespace
from typing import Any

import mlx.core as mx

from rlx.backends.array.axes import moved as _moved
from rlx.backends.array.mlx_namespace.dtypes import (
    asarray,
    astype,
    can_cast,
    finfo,
    full,
    full_like,
    iinfo,
    isdtype,
    result_type,
)
from rlx.backends.array.mlx_namespace.elementwise import (
    cos,
    exp,
    floor_divide,
    fmod,
    logaddexp,
    remainder,
    round,
    sign,
    sin,
)
from rlx.backends.array.mlx_namespace.indexing import (
    nonzero,
    searchsorted,
    take,
    take_along_axis,
    unique_values,
)
from rlx.backends.array.mlx_namespace.products import (
    det,
    einsum,
    ifft,
    irfft,
    matmul,
    matrix_transpose,
    rfft,
    vecdot,
)
from rlx.backends.array.mlx_namespace.products import (
    fft as _fft,
)
from rlx.backends.array.mlx_namespace.reduction import (
    all,
    any,
    argmax,
    argmin,
    argsort,
    cumulative_prod,
    cumulative_sum,
    max,
    mean,
    min,
    prod,
    sort,
    std,
    sum,
    var,
)

Array = Any

bool = mx.bool_
int8, int16, int32, int64 = mx.int8, mx.int16, mx.int32, mx.int64
uint8, uint16, uint32, uint64 = mx.uint8, mx.uint16, mx.uint32, mx.uint64
float16, bfloat16, float32, float64 = mx.float16, mx.bfloat16, mx.float32, mx.float64
complex64 = mx.complex64
e, inf, nan, newaxis, pi = mx.e, mx.inf, mx.nan, None, mx.pi

abs, negative, positive, square, sqrt = mx.abs, mx.negative, mx.positive, mx.square, mx.sqrt
floor, ceil, trunc, reciprocal = mx.floor, mx.ceil, mx.trunc, mx.reciprocal
expm1, log, log1p, log2, log10 = mx.expm1, mx.log, mx.log1p, mx.log2, mx.log10
tan, asin, acos, atan, atan2 = mx.tan, mx.arcsin, mx.arccos, mx.arctan, mx.arctan2
sinh, cosh, tanh = mx.sinh, mx.cosh, mx.tanh
asinh, acosh, atanh = mx.arcsinh, mx.arccosh, mx.arctanh
isnan, isinf, isfinite = mx.isnan, mx.isinf, mx.isfinite
real, imag, conj = mx.real, mx.imag, mx.conjugate
add, subtract, multiply, divide, pow = mx.add, mx.subtract, mx.multiply, mx.divide, mx.power
maximum, minimum = mx.maximum, mx.minimum
equal, not_equal = mx.equal, mx.not_equal
less, less_equal, greater, greater_equal = mx.less, mx.less_equal, mx.greater, mx.greater_equal
logical_and, logical_or, logical_xor = mx.logical_and, mx.logical_or, mx.logical_xor
logical_not = mx.logical_not
bitwise_and, bitwise_or, bitwise_xor = mx.bitwise_and, mx.bitwise_or, mx.bitwise_xor
bitwise_invert = mx.bitwise_invert
bitwise_left_shift, bitwise_right_shift = mx.bitwise_left_shift, mx.bitwise_right_shift
where = mx.where

broadcast_to, broadcast_arrays = mx.broadcast_to, mx.broadcast_arrays
permute_dims, expand_dims, flip, unstack = mx.permute_dims, mx.expand_dims, mx.flip, mx.unstack
tile, tril, triu, meshgrid = mx.tile, mx.tril, mx.triu, mx.meshgrid
zeros_like, ones_like = mx.zeros_like, mx.ones_like

linalg = SimpleNamespace(det=det, matmul=matmul, matrix_transpose=matrix_transpose, vecdot=vecdot)
fft = SimpleNamespace(fft=_fft, ifft=ifft, rfft=rfft, irfft=irfft)


def zeros(shape: int | tuple[int, ...], *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros, float32 unless told."""
    del device
    return mx.zeros(shape, dtype=float32 if dtype is None else dtype)


def ones(shape: int | tuple[int, ...], *, dtype: Any = None, device: Any = None) -> Array:
    """Ones, float32 unless told."""
    del device
    return mx.ones(shape, dtype=float32 if dtype is None else dtype)


def empty(shape: int | tuple[int, ...], *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros: MLX leaves no memory undefined."""
    return zeros(shape, dtype=dtype, device=device)


empty_like = zeros_like


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Array:
    """Evenly spaced values; of Python's integers int64, unless told."""
    del device
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        whole = builtins.all(isinstance(n, int) for n in (start, stop, step))
        dtype = int64 if whole else float32
    return mx.arange(start, stop, step, dtype=dtype)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Array:
    """Ones on a diagonal, zeros elsewhere."""
    del device
    columns = n_rows if n_cols is None else n_cols
    rows = mx.arange(n_rows, dtype=int64)[:, None]
    on = mx.arange(columns, dtype=int64)[None, :] - rows == k
    return on.astype(float32 if dtype is None else dtype)


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: Any = None) -> Array:
    """The same values in another shape; one size may be -1."""
    del copy
    return mx.reshape(x, shape)


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Without axes of one element."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    return mx.squeeze(x, axis=axes) if axes else x


def moveaxis(
    x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> Array:
    """Axes moved to other positions; the others stay in order."""
    return mx.permute_dims(x, _moved(x.ndim, source, destination))


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """Side by side along an axis; without one, flattened."""
    if axis is None:
        arrays, axis = [mx.reshape(x, (-1,)) for x in arrays], 0
    return mx.concatenate(list(arrays), axis=axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Array:
    """Side by side along a new axis."""
    return mx.stack(list(arrays), axis=axis)


def repeat(x: Array, repeats: int, /, *, axis: int | None = None) -> Array:
    """Each element so many times."""
    return mx.repeat(x, repeats, axis=axis)


def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Moved along axes, around the end."""
    return mx.roll(x, shift, axis)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Within bounds; where they cross, the upper one; NaN stays NaN."""
    if min is not None:
        x = mx.maximum(x, min)
    return x if max is None else mx.minimum(x, max)


def __getattr__(name: str) -> Any:
    """Say whose the missing function is, so that errors name the library.

    Raises:
        AttributeError: always: what exists is found without this.
    """
    raise AttributeError(f"mlx has no {name}")
