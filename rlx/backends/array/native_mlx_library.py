"""MLX as an array library: one stream, entered by one thread at a time, evaluated once a run."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import numpy as np

import rlx.backends.array.mlx_namespace as xp
from rlx.backends.array.dtypes import CODES
from rlx.backends.array.engine import ArrayBackend
from rlx.backends.array.flags import check
from rlx.backends.array.host import NUMPY
from rlx.backends.array.library import Library
from rlx.backends.array.mlx_namespace.dtypes import NAMES, from_host, to_host
from rlx.backends.array.mlx_namespace.indexing import flags as raised
from rlx.backends.array.native_mlx_convolution import GPU_OVERRIDES
from rlx.backends.array.native_mlx_kernels import OVERRIDES

if TYPE_CHECKING:
    from rlx.backends.array.library import Function


LACKED = frozenset(
    {
        "string",
        "complex128",
        *(name for name in CODES.values() if name.startswith(("float8", "float6e", "float4e"))),
        *("int4", "uint4", "int2", "uint2"),
    }
)
"""dtypes that MLX lacks: NumPy holds them on the host, and computes with them there."""


def open_device(device: Any, *, compiles: bool) -> ArrayBackend:
    """MLX on a live device.

    MLX ties what it makes to the stream that it was made on, and its usual streams to the thread
    that made them. So each backend has a stream of its own that any thread may enter, and enters
    it for one run at a time.
    """
    stream = mx.new_thread_unsafe_stream(device)
    turn = threading.RLock()

    def guard(function: Callable[..., Any], *arguments: Any) -> Any:
        with turn, mx.stream(stream), raised.apart():
            return _evaluated(NUMPY.guard(function, *arguments))

    def copy(array: Any) -> Any:
        with turn, mx.stream(stream):
            made = mx.array(array)
            mx.eval(made)
        return made

    on_gpu = device.type == mx.gpu
    library = Library(
        name="mlx",
        xp=xp,
        version=mx.__version__,  # type: ignore[attr-defined]
        device="mlx",
        to_native=from_host,
        to_host=_copied,
        owns=lambda value: isinstance(value, mx.array),
        copy=copy,
        guard=guard,
        name_of=lambda array: NAMES[array.dtype],
        overrides={**OVERRIDES, **GPU_OVERRIDES} if on_gpu else OVERRIDES,
        held=LACKED | {"float64"} if on_gpu else LACKED,
        compile=_compiled if compiles else None,
    )
    return ArrayBackend(library)


def _evaluated(result: Any) -> Any:
    """A run's outputs, computed, all at once; what else a guarded function returns as it is.

    Raises:
        ExecutionError: an index was outside its array.
    """
    if result.__class__ is not list:
        return result
    flags = raised.taken()
    mx.eval(result, flags)  # what is no array is passed over
    check(flag.item() for flag in flags)
    return result


def _copied(array: Any) -> Any:
    """In memory of its own: MLX shares memory between arrays that it takes never to change."""
    return np.array(to_host(array), order="C")


def why_not_compiled(kind: Any) -> str | None:
    """Why `mx.compile` would run programs as they are, which it does without a word; or None."""
    if os.environ.get("MLX_DISABLE_COMPILE"):
        return "MLX_DISABLE_COMPILE is set"
    if kind == mx.cpu and shutil.which("g++") is None:
        return "on a CPU it needs g++, which is not on PATH"
    return None


def _compiled(
    function: Function, weights: Sequence[Any], inputs: Sequence[Any]
) -> Callable[[Sequence[Any]], list[Any]]:
    """The function compiled; it is traced when it is first called."""
    del inputs

    def traced(*given: Any) -> tuple[list[Any], list[Any]]:
        outputs = function(weights, given)
        return outputs, raised.taken()

    compiled = mx.compile(traced)

    def run(given: Sequence[Any]) -> list[Any]:
        outputs, flags = compiled(*given)
        for flag in flags:
            raised.raise_flag(flag)
        return list(outputs)

    return run
