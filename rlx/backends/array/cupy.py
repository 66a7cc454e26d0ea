"""The cupy backend: NVIDIA GPUs, with NumPy's functions, one kernel after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rlx.backends.protocol import Found
from rlx.errors import SettingError, Unavailable, told

if TYPE_CHECKING:
    from rlx.backends.array.engine import ArrayBackend
    from rlx.device import DeviceSpec


def open_cuda(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open one NVIDIA GPU; there are no options.

    Raises:
        Unavailable: CuPy has no such device.
        SettingError: an option was given, or CuPy is told to use TF32.
    """
    index = spec.index or 0
    if options:
        given = ", ".join(sorted(options))
        raise SettingError(f"cupy has no options, got {given}", fix="remove them.")
    if os.environ.get("CUPY_TF32", "0") != "0":  # CuPy reads it when it first multiplies
        raise SettingError("CUPY_TF32 makes float32 products less exact", fix="unset it.")
    if isinstance(found := probe_cuda(index), str):
        raise Unavailable(f"cupy cannot use {spec}: {found}", fix="see `rlx devices`.")

    import array_api_compat.cupy as xp
    import cupy

    from rlx.backends.array.engine import ArrayBackend
    from rlx.backends.array.host import NUMPY
    from rlx.backends.array.library import Library
    from rlx.backends.array.native_on_host import EXTENDED, scatters

    def guard(function: Callable[..., Any], *arguments: Any) -> Any:
        with cupy.cuda.Device(index):
            return NUMPY.guard(function, *arguments)

    return ArrayBackend(
        Library(
            name="cupy",
            xp=xp,
            version=cupy.__version__,
            device="cuda",
            to_native=lambda x: guard(cupy.asarray, x),
            to_host=cupy.asnumpy,
            owns=lambda x: isinstance(x, cupy.ndarray) and x.device.id == index,
            copy=lambda x: guard(cupy.array, x),
            guard=guard,
            overrides=scatters(),
            held=EXTENDED,
        )
    )


def probe_cuda(index: int) -> Found | str:
    """What the NVIDIA GPU is, or why CuPy can't use it; a kernel is compiled and run to see."""
    import cupy

    if not cupy.is_available():
        return "CuPy finds no NVIDIA driver or GPU"
    count = cupy.cuda.runtime.getDeviceCount()
    if index >= count:
        return f"CuPy finds {count} GPU(s), none of index {index}"
    try:
        with cupy.cuda.Device(index):
            total = float(cupy.ones(8, cupy.float32).sum())
    except Exception as error:  # noqa: BLE001 - whatever a driver says is the reason
        return told(error)
    name = cupy.cuda.runtime.getDeviceProperties(index)["name"]
    return Found(detail=name.decode()) if total == 8.0 else f"a sum of eight ones gave {total}"
