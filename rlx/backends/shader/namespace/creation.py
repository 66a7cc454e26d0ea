"""Making arrays: from values on the host, from counting, and from other dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from rlx.backends.shader import dtypes as dt
from rlx.backends.shader.dtypes import Dtype
from rlx.backends.shader.namespace.movement import broadcast_to
from rlx.backends.shader.tensor import Tensor, on_device_only

Array = Any


def asarray(
    obj: Any, /, *, dtype: Dtype | None = None, device: Any = None, copy: bool | None = None
) -> Tensor:
    """Values on the host as an array; Python's integers are int64 and its floats float32."""
    del device, copy
    if isinstance(obj, Tensor):
        return obj if dtype is None else astype(obj, dtype)
    if isinstance(obj, list | tuple) and any(isinstance(item, Tensor) for item in obj):
        from rlx.backends.shader.namespace.joining import stack  # which makes arrays

        made = stack([asarray(item) for item in obj])
        return made if dtype is None else astype(made, dtype)
    host = np.asarray(obj)
    if dtype is not None:
        return Tensor.of_host(host.astype(dtype.numpy, copy=False))
    if not isinstance(obj, np.ndarray | np.generic) and host.dtype.kind == "f":
        host = host.astype(np.float32)
    return Tensor.of_host(host)


def like(value: Any, other: Tensor) -> Tensor:
    """An operand as an array; Python's numbers take on the other's dtype, if of its kind."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return Tensor.of_host(np.asarray(value))
    dtype = other.dtype
    if isinstance(value, float) and dtype.kind != "float":
        dtype = dt.float32
    elif isinstance(value, int) and not isinstance(value, bool) and dtype.kind == "bool":
        dtype = dt.int64
    return Tensor.of_host(np.asarray(value).astype(dtype.numpy))


def astype(x: Tensor, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """The values in another dtype: fractions are cut off, and integers wrap around."""
    del copy, device
    if x.dtype == dtype:
        return x
    if x.host is not None:
        with np.errstate(all="ignore"):
            return Tensor.of_host(x.host.astype(dtype.numpy))
    on_device_only(dtype)
    bounds = (x.low, x.high) if x.dtype.kind != "float" and dtype.kind != "float" else None
    if dtype.kind == "bool":
        bounds = None
    return Tensor("map", (x,), ("cast",), x.shape, dtype, bounds)


def bitcast(x: Tensor, dtype: Dtype, /) -> Tensor:
    """The same bits as another dtype of as many.

    Raises:
        NotImplementedError: it has more or fewer, or they are not held as they are.
    """
    if x.host is not None:
        return Tensor.of_host(x.host.view(dtype.numpy))
    if x.dtype == dtype:
        return x
    if x.dtype.bits != dtype.bits or "bool" in (x.dtype.kind, dtype.kind):
        raise NotImplementedError(f"shaders do not see {x.dtype.name} as {dtype.name}")
    if "float" in (x.dtype.kind, dtype.kind) and dtype.bits != 32:
        raise NotImplementedError(f"shaders do not see {x.dtype.name} as {dtype.name}")
    on_device_only(dtype)
    return Tensor("map", (x,), ("bits",), x.shape, dtype)


def full(
    shape: int | tuple[int, ...],
    fill_value: Any,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
) -> Tensor:
    """One value everywhere."""
    del device
    value = asarray(fill_value, dtype=dtype)
    return broadcast_to(value, (shape,) if isinstance(shape, int) else tuple(shape))


def zeros(shape: Any, *, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Zeros, float32 unless told."""
    return full(shape, 0, dtype=dt.float32 if dtype is None else dtype, device=device)


def ones(shape: Any, *, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Ones, float32 unless told."""
    return full(shape, 1, dtype=dt.float32 if dtype is None else dtype, device=device)


def full_like(
    x: Tensor, /, fill_value: Any, *, dtype: Dtype | None = None, device: Any = None
) -> Tensor:
    """One value everywhere, in the shape of another array."""
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Zeros in the shape of another array."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """Ones in the shape of another array."""
    return full_like(x, 1, dtype=dtype, device=device)


empty, empty_like = zeros, zeros_like


def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
) -> Tensor:
    """Evenly spaced values, known on the host; of Python's integers int64, unless told."""
    del device
    if stop is None:
        start, stop = 0, start
    start, stop, step = (x.item() if isinstance(x, Tensor) else x for x in (start, stop, step))
    made = np.arange(start, stop, step)
    if dtype is None:
        dtype = dt.float32 if made.dtype.kind == "f" else dt.int64
    return Tensor.of_host(made.astype(dtype.numpy))


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Dtype | None = None,
    device: Any = None,
) -> Tensor:
    """Ones on a diagonal, zeros elsewhere."""
    del device
    kind = dt.float32 if dtype is None else dtype
    return Tensor.of_host(np.eye(n_rows, n_cols, k).astype(kind.numpy))


@dataclass(frozen=True, slots=True)
class Iinfo:
    """What an integer dtype can hold."""

    bits: int
    max: int
    min: int
    dtype: Dtype


def iinfo(type: Any, /) -> Iinfo:
    """The limits of an integer dtype, or of an array's."""
    dtype = type.dtype if isinstance(type, Tensor) else type
    return Iinfo(dtype.bits, dtype.high, dtype.low, dtype)


def finfo(type: Any, /) -> Any:
    """The limits of a float dtype, or of an array's."""
    dtype = type.dtype if isinstance(type, Tensor) else type
    return ml_dtypes.finfo(dtype.numpy)  # type: ignore[no-untyped-call]


_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": (),
    "numeric": ("int", "uint", "float"),
}


def isdtype(dtype: Dtype, kind: Any) -> bool:
    """True for a dtype of the kind, or of one of them."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    return dtype.kind in _KINDS[kind] if isinstance(kind, str) else dtype == kind


def result_type(*arrays_and_dtypes: Any) -> Dtype:
    """The dtype that operands promote to; Python's numbers take on the arrays' dtype."""
    found: Dtype | None = None
    for one in arrays_and_dtypes:
        dtype = one.dtype if isinstance(one, Tensor) else one if isinstance(one, Dtype) else None
        if dtype is not None:
            found = dtype if found is None else dt.promoted(found, dtype)
    assert found is not None
    return found
