"""The dpnp backend: Intel GPUs through SYCL; Intel's OpenCL device for CPUs where there is none."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.backends.protocol import Found
from rlx.errors import SettingError, Unavailable, told

if TYPE_CHECKING:
    from rlx.backends.array.engine import ArrayBackend
    from rlx.device import DeviceSpec


def open_oneapi(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open a GPU, or the CPU's device where there is no GPU; there are no options.

    Raises:
        Unavailable: dpnp has no such device.
        SettingError: an option was given.
    """
    if options:
        given = ", ".join(sorted(options))
        raise SettingError(f"dpnp has no options, got {given}", fix="remove them.")
    if isinstance(found := probe_oneapi(spec.index or 0), str):
        raise Unavailable(f"dpnp cannot use {spec}: {found}", fix="see `rlx devices`.")

    import dpnp

    from rlx.backends.array.engine import ArrayBackend
    from rlx.backends.array.host import NUMPY
    from rlx.backends.array.library import Library, on_device
    from rlx.backends.array.native_on_host import EXTENDED, scatters

    device = _devices()[spec.index or 0]
    xp = on_device(dpnp, device)
    return ArrayBackend(
        Library(
            name="dpnp",
            xp=xp,
            version=dpnp.__version__,
            device="oneapi",
            to_native=xp.asarray,
            to_host=dpnp.asnumpy,
            owns=lambda x: isinstance(x, dpnp.ndarray) and x.sycl_device == device,
            copy=dpnp.copy,
            guard=NUMPY.guard,
            overrides=scatters(),
            held=EXTENDED if device.has_aspect_fp64 else EXTENDED | {"float64", "complex128"},
        )
    )


def _devices() -> list[Any]:
    """The GPUs, or else the CPU's devices."""
    runtime = Path(sys.prefix, "lib", "libintelocl.so")
    if "dpctl" not in sys.modules and runtime.exists():  # its own registration has a broken path
        os.environ.setdefault("OCL_ICD_FILENAMES", str(runtime))
    import dpctl

    return list(dpctl.get_devices(device_type="gpu") or dpctl.get_devices(device_type="cpu"))


def probe_oneapi(index: int) -> Found | str:
    """What the device is, or why dpnp can't use it; a kernel is run to see."""
    try:
        devices = _devices()
        if index >= len(devices):
            return f"dpnp finds {len(devices)} device(s), none of index {index}"
        import dpnp

        total = float(dpnp.ones(8, dtype=dpnp.float32, device=devices[index]).sum())
    except Exception as error:  # noqa: BLE001 - whatever a driver says is the reason
        return told(error)
    software = devices[index].device_type.name == "cpu"
    name = devices[index].name
    return Found(software, name) if total == 8.0 else f"a sum of eight ones gave {total}"
