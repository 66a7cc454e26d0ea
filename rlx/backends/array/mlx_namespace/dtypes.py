"""dtypes of MLX, conversions between them, and arrays from Python's and NumPy's values."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import mlx.core as mx
import numpy as np

Array = Any
Dtype = Any

_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 bfloat16 float32 float64 complex64"
)
BY_NAME: dict[str, Dtype] = {
    name: getattr(mx, "bool_" if name == "bool" else name) for name in _NAMES.split()
}
"""MLX's dtypes by ONNX's names; it has no complex128, and none narrower than eight bits."""
NAMES = {dtype: name for name, dtype in BY_NAME.items()}
SIGNED = (mx.int8, mx.int16, mx.int32, mx.int64)
UNSIGNED = (mx.uint8, mx.uint16, mx.uint32, mx.uint64)
INTEGERS = SIGNED + UNSIGNED
FLOATS = (mx.float16, mx.bfloat16, mx.float32, mx.float64)
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_OF_NUMPY = {
    _BFLOAT16 if name == "bfloat16" else np.dtype(name): dtype for name, dtype in BY_NAME.items()
}


def from_host(array: Any) -> Array:
    """A NumPy array as one of MLX's, in memory of its own.

    Raises:
        NotImplementedError: MLX has no such dtype.
    """
    host = array if array.__class__ is np.ndarray else np.asarray(array)
    dtype = _OF_NUMPY.get(host.dtype)
    if dtype is None:
        raise NotImplementedError(f"mlx has no dtype {host.dtype.name}")
    if any(step < 0 for step in host.strides):  # which MLX does not read
        host = np.ascontiguousarray(host)
    return mx.array(host, dtype=dtype)


def to_host(array: Array) -> Any:
    """An MLX array as a NumPy array, which shares its memory where their layouts allow it."""
    if array.dtype == mx.bfloat16:
        return np.asarray(array.view(mx.uint16)).view(_BFLOAT16)
    return np.asarray(array)


def asarray(obj: Any, dtype: Dtype | None = None, *, copy: builtins.bool | None = None) -> Array:
    """Like the standard's; Python's integers become int64 and its floats float32, if not told."""
    if isinstance(obj, mx.array):
        if dtype is not None and obj.dtype != dtype:
            return obj.astype(dtype)
        return mx.array(obj) if copy else obj
    if isinstance(obj, np.ndarray | np.generic):
        made = from_host(obj)
        return made if dtype is None or made.dtype == dtype else made.astype(dtype)
    if isinstance(obj, list | tuple) and any(isinstance(item, mx.array) for item in obj):
        made = mx.stack([asarray(item) for item in obj])
        return made if dtype is None else made.astype(dtype)
    return _from_python(obj, dtype)


def _from_python(obj: Any, dtype: Dtype | None) -> Array:
    host = np.asarray(obj)
    if dtype is None:
        dtype = {"f": mx.float32, "i": mx.int64, "u": mx.uint64, "b": mx.bool_, "c": mx.complex64}[
            host.dtype.kind
        ]
    if dtype == mx.bfloat16:
        return mx.array(host.astype(np.float32)).astype(dtype)
    return mx.array(host.astype(np.dtype(NAMES[dtype])), dtype=dtype)


def astype(x: Array, dtype: Dtype, /, *, copy: builtins.bool = True, device: Any = None) -> Array:
    """The values in another dtype; MLX shares memory that nothing can write to, copy or not."""
    del copy, device
    if not isinstance(dtype, mx.Dtype):
        raise NotImplementedError(f"mlx has no dtype {dtype!r}")
    return x.astype(dtype)


def full(
    shape: int | tuple[int, ...],
    fill_value: Any,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
) -> Array:
    """One value everywhere; unlike MLX's own, of any value that the dtype has."""
    del device
    value = asarray(fill_value, dtype=dtype)
    return mx.broadcast_to(value, (shape,) if isinstance(shape, int) else tuple(shape))


def full_like(
    x: Array, /, fill_value: Any, *, dtype: Dtype | None = None, device: Any = None
) -> Array:
    """One value everywhere, in the shape of another array."""
    del device
    return full(tuple(x.shape), fill_value, dtype=x.dtype if dtype is None else dtype)


@dataclass(frozen=True, slots=True)
class Finfo:
    """What a float dtype can hold."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Dtype


@dataclass(frozen=True, slots=True)
class Iinfo:
    """What an integer dtype can hold."""

    bits: int
    max: int
    min: int
    dtype: Dtype


def finfo(type: Any, /) -> Finfo:
    """The limits of a float dtype, or of an array's."""
    dtype = type.dtype if isinstance(type, mx.array) else type
    limits: Any = ml_dtypes.finfo(NAMES[dtype])  # type: ignore[no-untyped-call]
    return Finfo(
        bits=int(limits.bits),
        eps=float(limits.eps),
        max=float(limits.max),
        min=float(limits.min),
        smallest_normal=float(limits.smallest_normal),
        dtype=mx.float32 if dtype == mx.complex64 else dtype,
    )


def iinfo(type: Any, /) -> Iinfo:
    """The limits of an integer dtype, or of an array's."""
    dtype = type.dtype if isinstance(type, mx.array) else type
    limits = np.iinfo(NAMES[dtype])
    return Iinfo(bits=limits.bits, max=int(limits.max), min=int(limits.min), dtype=dtype)


def result_type(*arrays_and_dtypes: Any) -> Dtype:
    """The dtype that operands promote to; Python's numbers take on the arrays' dtype."""
    typed = [one for one in arrays_and_dtypes if isinstance(one, mx.array | mx.Dtype)]
    return mx.result_type(*typed)


def can_cast(from_: Any, to: Dtype, /) -> builtins.bool:
    """True when promotion with the other dtype leaves it as it is."""
    return builtins.bool(result_type(from_, to) == to)


def isdtype(dtype: Dtype, kind: Any) -> builtins.bool:
    """True for a dtype of the kind, or of one of them."""
    return builtins.bool(mx.isdtype(dtype, kind))
