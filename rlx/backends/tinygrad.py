"""tinygrad on processors and GPUs, through its own ONNX runner; it drives some without a vendor's.

Devices of several kinds may be open in one process. tinygrad keeps its settings, and what it makes
of programs, per process: one program of all devices is made or run at a time.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.backends.forks import refuse_forked
from rlx.backends.protocol import Found
from rlx.errors import SettingError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.tinygrad_backend import TinyGrad
    from rlx.device import DeviceSpec

USB_GPUS = frozenset({("add1", "0001"), ("3801", "0001")})
"""Vendor and product of the USB bridges that tinygrad's firmware makes of an ASM2464."""
USB_DEVICES = Path("/sys/bus/usb/devices")
OPTION = "beam"


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> TinyGrad:
    """Open the processor, whose kernels clang compiles.

    Options, of every device: `beam`, a whole number from 0: how many candidates of each kernel
    are timed when a program is compiled; 0, the default, takes the first.

    Raises:
        SettingError: another option, or a value that is none.
        Unavailable: the device can't be used, or it was used before a fork.
    """
    return _open("tinygrad-cpu", "CPU", spec, options)


def open_opencl(spec: DeviceSpec, options: Mapping[str, object]) -> TinyGrad:
    """Open the first OpenCL device; options and errors as for the processor."""
    return _open("tinygrad-opencl", "CL", spec, options)


def open_cuda(spec: DeviceSpec, options: Mapping[str, object]) -> TinyGrad:
    """Open the first NVIDIA GPU; options and errors as for the processor."""
    return _open("tinygrad-cuda", "CUDA", spec, options)


def open_metal(spec: DeviceSpec, options: Mapping[str, object]) -> TinyGrad:
    """Open Apple's GPU; options and errors as for the processor."""
    return _open("tinygrad-metal", "METAL", spec, options)


def open_rocm(spec: DeviceSpec, options: Mapping[str, object]) -> TinyGrad:
    """Open the first AMD GPU by its kernel driver, without ROCm; options and errors as above."""
    return _open("tinygrad-rocm", "KFD+AMD", spec, options)


def open_egpu(spec: DeviceSpec, options: Mapping[str, object]) -> TinyGrad:
    """Open the first AMD GPU that hangs on USB; options and errors as for the processor."""
    return _open("tinygrad-egpu", "USB+AMD", spec, options)


def probe_cpu(index: int) -> Found | str:
    """Whether a kernel can be compiled and run, or why not."""
    return _probe("CPU", index)


def probe_opencl(index: int) -> Found | str:
    """What the OpenCL device is, and whether a processor emulates it; or why it can't be used."""
    found = _probe("CL", index)
    return found if isinstance(found, str) else Found(not _is_gpu(), found.detail)


def probe_cuda(index: int) -> Found | str:
    """Whether the NVIDIA GPU can be used, or why not."""
    return _probe("CUDA", index)


def probe_metal(index: int) -> Found | str:
    """Whether Apple's GPU can be used, or why not."""
    return _probe("METAL", index)


def probe_rocm(index: int) -> Found | str:
    """Whether the AMD GPU can be used by its kernel driver, or why not."""
    return _probe("KFD+AMD", index)


def probe_egpu(index: int) -> Found | str:
    """Whether the GPU on USB can be used, or why not; without one nothing is started."""
    if sys.platform.startswith("linux") and not any(map(_is_bridge, _devices())):
        named = " or ".join(sorted(":".join(one) for one in USB_GPUS))
        return f"no USB device is a bridge to a GPU ({named}: an ASM2464 with tinygrad's firmware)"
    return _probe("USB+AMD", index)


def _devices() -> list[Path]:
    return sorted(USB_DEVICES.iterdir()) if USB_DEVICES.is_dir() else []


def _is_bridge(device: Path) -> bool:
    try:
        numbers = [(device / name).read_text().strip() for name in ("idVendor", "idProduct")]
    except OSError:
        return False
    return tuple(numbers) in USB_GPUS


def _open(id: str, target: str, spec: DeviceSpec, options: Mapping[str, object]) -> TinyGrad:
    from rlx.backends.tinygrad_backend import TinyGrad
    from rlx.backends.tinygrad_place import Place

    beam = _beam(id, options)
    if spec.index not in (None, 0):
        raise Unavailable(f"{id} has only {spec.name}:0, got {spec}", fix=f"ask for {spec.name}.")
    if target != "CPU":
        refuse_forked(id)
    try:
        place = Place(target, beam)
    except Exception as error:
        raise Unavailable(
            f"{id} cannot use {spec}: {said(error)}", fix="see `rlx devices`."
        ) from error
    return TinyGrad(place, spec.name, id)


def _beam(id: str, options: Mapping[str, object]) -> int:
    others = sorted(options.keys() - {OPTION})
    if others:
        raise SettingError(
            f"{id} has the option {OPTION}, got {', '.join(others)}", fix="remove them."
        )
    beam = options.get(OPTION, 0)
    if not isinstance(beam, int) or isinstance(beam, bool) or beam < 0:
        raise SettingError(
            f"{id}: {OPTION} is a whole number from 0, got {beam!r}", fix=f"write {OPTION}: 0."
        )
    return beam


def said(error: BaseException) -> str:
    """What an error says, and each of those in a group."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(said(one) for one in error.exceptions)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _probe(target: str, index: int) -> Found | str:
    """The device, once it has computed a sum."""
    from rlx.backends.tinygrad_place import Place

    if index:
        return f"tinygrad is given only the first device, got index {index}"
    try:
        place = Place(target)
        total = place.sum_of_ones()
        return Found(detail=place.detail) if total == 8.0 else f"a sum of eight ones gave {total}"
    except Exception as error:  # noqa: BLE001 - whatever a driver says is the reason
        return said(error)


def _is_gpu() -> bool:
    """Whether the OpenCL device that is open is a GPU: else a processor emulates one."""
    import ctypes

    from tinygrad.device import Device
    from tinygrad.runtime.autogen import opencl

    kind: Any = ctypes.c_uint64()
    opencl.clGetDeviceInfo(
        Device["CL"].cl_dev, opencl.CL_DEVICE_TYPE, ctypes.sizeof(kind), ctypes.byref(kind), None
    )
    return bool(kind.value & opencl.CL_DEVICE_TYPE_GPU)
