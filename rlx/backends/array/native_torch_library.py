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
from rlx.backends.array.library import Library, on_device
from rlx.backends.array.native_torch_precision import Exactly

if TYPE_CHECKING:
    from rlx.backends.array.library import Compiler, Host

HELD_BY_NUMPY = frozenset(
    {"string", "uint16", "uint32", "uint64", "uint4", "int4", "uint2", "int2"}
    | {"float4e2m1", "float6e2m3", "float6e3m2", "float8e8m0"}
    | {"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"}
)
"""dtypes that PyTorch lacks, or has without arithmetic: NumPy holds them on the host."""
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


def library(device: torch.device, name: str, id: str, compile: Compiler | None = None) -> Library:
    """PyTorch on one of its devices, which rlx calls `id`."""
    on_cpu = device.type == "cpu"

    def to_native(x: Host) -> torch.Tensor:
        tensor = to_tensor(x)
        return tensor if on_cpu else tensor.to(device)

    return Library(
        name=name,
        xp=namespace(device),
        version=torch.__version__,
        device=id,
        to_native=to_native,
        to_host=to_array,
        owns=lambda value: isinstance(value, torch.Tensor) and value.device == device,
        copy=partial(torch.clone, memory_format=torch.contiguous_format),
        guard=Exactly(device.type),
        dtype=dtype,
        overrides=elementwise.OVERRIDES | indexing.OVERRIDES | networks.OVERRIDES,
        held=HELD_BY_NUMPY,
        compile=compile,
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


_PLAIN = (
    "abs acos acosh add asin asinh atan atanh cos cosh einsum exp expm1 fmod frexp isnan log log1p "
    "logical_not matmul multiply negative reshape sin sinh sqrt subtract tan tanh where"
)
"""Functions that need none of what array-api-compat adds, since dtypes never differ here."""


def namespace(device: torch.device) -> Any:
    """The array namespace, making arrays on `device`."""
    made = on_device(compat, device)
    for name in _PLAIN.split():
        setattr(made, name, getattr(torch, name))
    plain = made.asarray

    def asarray(value: Any, /, **options: Any) -> torch.Tensor:
        if isinstance(value, np.ndarray):
            value = to_tensor(value)
        elif isinstance(value, int | float) and options.get("dtype") is not None:
            return torch.full((), value, dtype=options["dtype"], device=device)  # no copy: a graph
        found: torch.Tensor = plain(value, **options)  # can record it
        return found

    made.asarray = asarray
    return made
