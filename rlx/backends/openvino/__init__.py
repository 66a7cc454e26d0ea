"""OpenVINO on Intel's processors, GPUs and NPUs: a thin adapter that keeps the promise of a device.

Precision is the program's: OpenVINO by itself computes float32 in bfloat16 where that is faster.
`AUTO` and `HETERO`, its own ways of landing on another device, are never used.
"""

from __future__ import annotations

import difflib
import sys
from threading import Lock
from typing import TYPE_CHECKING, Any

from rlx.backends.forks import refuse_forked
from rlx.backends.protocol import Found
from rlx.errors import SettingError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.openvino.backend import OpenVino
    from rlx.device import DeviceSpec

TELEMETRY = "openvino_telemetry"
_importing = Lock()
IDS = {"CPU": "openvino-cpu", "GPU": "openvino-gpu", "NPU": "openvino-npu"}
"""By OpenVINO's name of a device: the backend that runs on it."""
DRIVERS = {
    "GPU": "Intel's GPU driver with OpenCL (intel-opencl-icd, or intel-compute-runtime)",
    "NPU": "Intel's NPU driver (linux-npu-driver), which holds the compiler for NPUs as well",
}
"""What OpenVINO needs beside its own package, to use a device or to compile for it."""
OURS = {
    "COMPATIBILITY_CHECK": "it is no setting",
    "DEVICE_ID": "ask for the device by its index",
    "EXECUTION_MODE_HINT": "set precision_policy",
    "INFERENCE_PRECISION_HINT": "set precision_policy",
    "CACHE_DIR": "compiled programs are not kept on disk",
    "WEIGHTS_PATH": "weights come with the program",
}
"""Properties that the adapter sets or leaves alone, and what to do instead."""
LESS = {
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,
    "KEY_CACHE_PRECISION": "f32",
    "KV_CACHE_PRECISION": "f32",
    "VALUE_CACHE_PRECISION": "f32",
}
"""Properties by which OpenVINO computes in less than the program states, and the values that don't.

Set where the device has them and lower precision is not allowed; an option may set them then."""


def import_engine() -> Any:
    """openvino without its telemetry: importing it sends an event and keeps a client id on disk.

    openvino does without that package where it is missing, as it is made to seem meanwhile. A
    program that imported openvino before has had it its own way.
    """
    with _importing:
        hidden = TELEMETRY not in sys.modules
        if hidden:
            sys.modules[TELEMETRY] = None  # type: ignore[assignment]  # what makes importing it fail
        try:
            import openvino
        finally:
            if hidden:
                del sys.modules[TELEMETRY]
    return openvino


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> OpenVino:
    """Open the CPU.

    `options` are OpenVINO's own properties of the device, by the names in `SUPPORTED_PROPERTIES`
    that may be written, such as `INFERENCE_NUM_THREADS: 4`, or `PERFORMANCE_HINT: LATENCY`.

    Raises:
        SettingError: the device has no such property, or rlx sets it itself.
        Unavailable: there is no such device, or OpenVINO was used before a fork.
    """
    return _open("CPU", spec, options)


def open_gpu(spec: DeviceSpec, options: Mapping[str, object]) -> OpenVino:
    """Open an Intel GPU; options and errors as for the CPU."""
    return _open("GPU", spec, options)


def open_npu(spec: DeviceSpec, options: Mapping[str, object]) -> OpenVino:
    """Open an Intel NPU; options and errors as for the CPU."""
    return _open("NPU", spec, options)


def probe_gpu(index: int) -> Found | str:
    """Which Intel GPU it is, or why OpenVINO can't use it."""
    return _probe("GPU", index)


def probe_npu(index: int) -> Found | str:
    """Which Intel NPU it is, or why OpenVINO can't use it."""
    return _probe("NPU", index)


def _open(kind: str, spec: DeviceSpec, options: Mapping[str, object]) -> OpenVino:
    from rlx.backends.openvino.backend import OpenVino

    if kind != "CPU":  # drivers do not survive a fork; the CPU's threads are started anew
        refuse_forked(IDS[kind])
    engine = import_engine()
    core = engine.Core()
    name = _named(core, kind, spec.index or 0)
    if name is None:
        why = _lack(core, kind, spec.index or 0)
        driver = DRIVERS.get(kind)
        fix = f"install {driver}, or ask for another device." if driver else "see `rlx devices`."
        raise Unavailable(f"{IDS[kind]} cannot use {spec}: {why}", fix=fix)
    _set(core, IDS[kind], name, options)
    return OpenVino(engine, core, spec.name, name, IDS[kind], options)


def _named(core: Any, kind: str, index: int) -> str | None:
    """OpenVINO's name of the device: the first is `GPU` where it is alone, else `GPU.0`."""
    listed = core.available_devices
    if index == 0 and kind in listed:
        return kind
    name = f"{kind}.{index}"
    return name if name in listed else None


def _lack(core: Any, kind: str, index: int) -> str:
    """Why there is no such device: as its plugin says, where that is what fails."""
    listed = core.available_devices
    if any(name.partition(".")[0] == kind for name in listed):
        return f"openvino lists {', '.join(listed)}, none of index {index}"
    found = f"openvino lists {', '.join(listed) or 'no device'}"
    if kind in DRIVERS:
        found += f" and no {kind}: its driver is missing, or there is no such device"
    try:
        core.get_property(kind, "FULL_DEVICE_NAME")
    except Exception as error:  # noqa: BLE001 - whatever a plugin says is the reason
        why = said(error)
        # Without a driver the NPU's plugin knows no property at all, which is no reason.
        return found if "FULL_DEVICE_NAME" in why else f"{found}; it says: {why}"
    return found


def said(error: Exception) -> str:
    """The last line that says something: those before name places in OpenVINO's source."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Exception from ", "Check '"))]
    return (told or lines or [type(error).__name__])[-1].rstrip(".")


def _set(core: Any, id: str, name: str, options: Mapping[str, object]) -> None:
    """Set the options: each a property that may be written, and that rlx does not set itself."""
    known = core.get_property(name, "SUPPORTED_PROPERTIES")
    ours = set(OURS)
    free = sorted(key for key, mode in known.items() if mode == "RW" and key not in ours)
    for option in options:
        if option in ours:
            raise SettingError(f"{id}: {option} is not an option of rlx", fix=f"{OURS[option]}.")
        if option not in free:
            near = difflib.get_close_matches(option, free, 1)
            hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(free)}."
            raise SettingError(f"{id} has no option {option!r}", fix=hint)
        try:
            core.set_property(name, {option: options[option]})
        except Exception as error:
            raise SettingError(
                f"{id}: {option} can't be {options[option]!r}: {said(error)}",
                fix="write another value, or remove it.",
            ) from error


def _probe(kind: str, index: int) -> Found | str:
    """The device's name, once it has computed a sum."""
    engine = import_engine()
    core = engine.Core()
    name = _named(core, kind, index)
    if name is None:
        return _lack(core, kind, index)
    try:
        full = str(core.get_property(name, "FULL_DEVICE_NAME"))
        total = _sum(engine, core, name)
    except Exception as error:  # noqa: BLE001 - whatever a driver says is the reason
        return said(error)
    return Found(detail=full) if total == 8.0 else f"a sum of eight ones gave {total}"


def _sum(engine: Any, core: Any, name: str) -> float:
    import numpy as np

    ops = engine.opset13
    given = ops.parameter([8], np.float32)
    model = engine.Model([ops.reduce_sum(given, np.array([0]), False)], [given], "sum")
    compiled = core.compile_model(model, name)
    return float(compiled([np.ones(8, np.float32)])[0])
