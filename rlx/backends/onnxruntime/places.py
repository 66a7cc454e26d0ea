"""Devices that are found otherwise than by a number: OpenVINO's, and TensorRT's precision."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rlx.backends.onnxruntime.provider import Placed, Provider, by_index, plugin_devices

NO_TF32 = "NVIDIA_TF32_OVERRIDE"
"""At 0, no library of NVIDIA's computes in TF32; they read it once, when they are started."""
HALF = ("NPU",)
"""OpenVINO's devices that compute in float16 whatever is asked."""


def tensorrt(engine: Any, provider: Provider, index: int, settings: Mapping[str, str]) -> Placed:
    """TensorRT takes TF32 for float32, and onnxruntime can't forbid it: only the variable can."""
    found = by_index(engine, provider, index, settings)
    computes = None if os.environ.get(NO_TF32) == "0" else "tf32"
    return Placed(found.settings, found.device, computes, detail=found.detail)


def openvino(engine: Any, provider: Provider, index: int, settings: Mapping[str, str]) -> Placed:
    """OpenVINO's GPUs, then its NPU; where there is neither, the CPU, which is then software.

    Built in, it is asked by name; in the plugin, each device is one of onnxruntime's own.
    """
    listed = plugin_devices(engine, provider)
    if listed is not None:
        by_name = {_plugin_name(one): one for one in listed}
        name = _choose(provider, index, list(by_name))
        hint = '{"INFERENCE_PRECISION_HINT":"f32","EXECUTION_MODE_HINT":"ACCURACY"}'
        asked = {**settings, "load_config": f'{{"{name.split(".")[0]}":{hint}}}'}
        return _placed(name, asked, by_name[name])
    known = engine.capi._pybind_state.get_available_openvino_device_ids()
    name = _choose(provider, index, list(known))
    precision = "FP16" if name in HALF else "FP32"
    return _placed(name, {**settings, "device_type": name, "precision": precision}, None)


def _placed(name: str, settings: Mapping[str, str], device: Any) -> Placed:
    half = name in HALF
    software = name == "CPU"
    detail = f"OpenVINO {name}"
    return Placed(settings, device, "float16" if half else None, software, detail)


def _choose(provider: Provider, index: int, known: list[str]) -> str:
    """The device of this index: accelerators first, the CPU where there are none."""
    better = [one for one in known if one.startswith("GPU")]
    better += [one for one in known if one.startswith("NPU")]
    devices = better or [one for one in known if one == "CPU"]
    if index >= len(devices):
        raise provider.lacks(index, len(devices))
    return devices[index]


def _plugin_name(device: Any) -> str:
    """OpenVINO's own name of a plugin's device."""
    return str(device.ep_metadata.get("ov_device") or device.device.type.name)
