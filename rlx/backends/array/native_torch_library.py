"""PyTorch as an array library: moving arrays in and out, and the state that runs happen in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import array_api_compat.torch as compat
import ml_dtypes
import numpy as np
import torch

from rlx.backends.array import native_torch_elementwise as elementwise
from rlx.backends.array import native_torch_indexing as indexing
from rlx.backends.array import native_torch_networks as networks
from rlx.backends.array import native_torch_products as products
from rlx.backends.array.library import Library, on_device
from rlx.backends.array.native_torch_graphs import moving, recorded
from rlx.backends.array.native_torch_precision import Exactly

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.backends.array.library import Host

HELD_BY_NUMPY = frozenset(
    {"string", "uint16", "uint32", "uint64", "uint4", "int4", "uint2", "int2"}
    | {"float4e2m1", "float6e2m3", "float6e3m2", "float8e8m0"}
    | {"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"}
)
"""dtypes that PyTorch lacks, or has without arithmetic: NumPy holds them on the host."""
NOT_ON_METAL = frozenset({"float64", "complex64", "complex128"})
_AS_BITS = {np.dtype(ml_dtypes.bfloat16): (np.int16, torch.bfloat16)}
"""NumPy's 16-bit dtypes that PyTorch does not know, with the bits' dtype, and PyTorch's own."""
_FROM_BITS = {theirs: (bits, ours) for ours, (bits, theirs) in _AS_BITS.items()}


class _Writable:
    """An array's memory under the interface that NumPy reads, as if it might be written to."""

    def __init__(self, x: Host):
        self.kept = x
        start, _ = x.__array_interface__["data"]
        self.__array_interface__ = {**x.__array_interface__, "data": (start, False)}


def to_tensor(x: Host) -> torch.Tensor:
    """A NumPy array as a tensor on the CPU that shares its memory where it can.

    PyTorch warns of read-only arrays; kernels never write to what they are given, so a read-only
    array is shared like any other.

    Raises:
        NotImplementedError: PyTorch has no such dtype.
    """
    known = _AS_BITS.get(x.dtype)
    if known is not None:
        return to_tensor(x.view(known[0])).view(known[1])
    if x.dtype.kind not in "biufc":
        raise NotImplementedError(f"torch has no dtype {x.dtype}")
    if any(step < 0 for step in x.strides):
        x = np.ascontiguousarray(x)
    if not x.flags.writeable and x.size:
        x = np.asarray(_Writable(x))
    return torch.from_numpy(x) if x.flags.writeable else torch.from_numpy(x.copy())


def to_array(x: torch.Tensor) -> Host:
    """A tensor as a NumPy array; on a CPU it shares the tensor's memory."""
    if x.device.type != "cpu":
        x = x.cpu()
    known = _FROM_BITS.get(x.dtype)
    found: Host
    if known is not None:
        found = x.view(torch.int16).numpy().view(known[1])
    else:
        found = (x.resolve_conj().resolve_neg() if x.is_complex() else x).numpy()
    return found


def library(device: torch.device, name: str, id: str, *, graphs: bool = False) -> Library:
    """PyTorch on one of its devices, which rlx calls `id`; `graphs`: programs are recorded."""
    to_native: Callable[[Host], torch.Tensor] = to_tensor
    if device.type != "cpu":
        to_native = moving(lambda x: to_tensor(x).to(device))
    return Library(
        name=name,
        xp=namespace(device, to_native),
        version=torch.__version__,
        device=id,
        to_native=to_native,
        to_host=to_array,
        owns=lambda value: isinstance(value, torch.Tensor) and value.device == device,
        copy=partial(torch.clone, memory_format=torch.contiguous_format),
        guard=Exactly(device.type),
        dtype=dtype,
        overrides=elementwise.OVERRIDES
        | indexing.OVERRIDES
        | networks.OVERRIDES
        | products.OVERRIDES,
        held=HELD_BY_NUMPY | (NOT_ON_METAL if device.type == "mps" else frozenset()),
        compile=recorded(device, to_native) if graphs else None,
        feeds=graphs,
    )


def dtype(name: str) -> torch.dtype:
    """PyTorch's dtype by ONNX's name.

    Raises:
        NotImplementedError: it has none, or none that it computes with.
    """
    found = None if name in HELD_BY_NUMPY and name[:4] != "uint" else getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise NotImplementedError(f"torch has no dtype {name}")
    return found


def whole_matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """A matrix product; GPUs have none of integers, which are multiplied and summed here."""
    if x.is_floating_point() or x.is_complex():
        return torch.matmul(x, y)
    left = x if x.ndim > 1 else x[None, :]
    right = y if y.ndim > 1 else y[:, None]
    z = (left[..., :, :, None] * right[..., None, :, :]).sum(-2, dtype=x.dtype)
    z = z if y.ndim > 1 else z[..., 0]
    return z if x.ndim > 1 else z[..., 0, :] if y.ndim > 1 else z[..., 0]


_PLAIN = (
    "abs acos acosh add asin asinh atan atanh cos cosh einsum exp expm1 fmod frexp isnan log log1p "
    "logical_not matmul multiply negative reshape sin sinh sqrt subtract tan tanh where"
)
"""Functions that need none of what array-api-compat adds, since dtypes never differ here."""


def namespace(device: torch.device, to_native: Callable[[Host], torch.Tensor]) -> Any:
    """The array namespace, making arrays on `device`."""
    made = on_device(compat, device)
    for name in _PLAIN.split():
        setattr(made, name, getattr(torch, name))
    plain = made.asarray

    def asarray(value: Any, /, **options: Any) -> torch.Tensor:
        dtype = options.get("dtype")
        if isinstance(value, int | float) and dtype is not None:  # filled on the device, not copied
            return torch.full((), value, dtype=dtype, device=device)
        if not isinstance(value, torch.Tensor):
            value = to_native(np.asarray(value))
        found: torch.Tensor = plain(value, **options)
        return found

    made.asarray = asarray
    if device.type != "cpu":
        made.matmul = whole_matmul
    return made
