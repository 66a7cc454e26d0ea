"""Shader modules of wgpu without the checks that it adds to shaders that it does not trust.

It clamps every index and bounds every loop, which costs a third of a matrix product's speed. The
generator's shaders need neither: their loops end, and their indices are inside. wgpu-py has no
function for it, so this calls wgpu-native's; where that is not as expected, checks stay on.
"""

from __future__ import annotations

from typing import Any

import wgpu


def shader_module(device: Any, text: str) -> Any:
    """A module of WGSL, unchecked where that can be had."""
    try:
        made = _unchecked(device, text)
    except (ImportError, AttributeError, TypeError, KeyError):  # another wgpu-py inside
        made = None
    return device.create_shader_module(code=text) if made is None else made


def is_unchecked(module: Any) -> bool:
    """Whether the module was made by `shader_module` without checks."""
    return getattr(module, "label", "") == _LABEL


_LABEL = "rlx, unchecked"


def _unchecked(device: Any, text: str) -> Any:
    from wgpu.backends.wgpu_native import _api as native

    source = native.new_struct_p("WGPUShaderSourceWGSL *", code=native.to_c_string_view(text))
    source[0].chain.next = native.ffi.NULL
    source[0].chain.sType = native.lib.WGPUSType_ShaderSourceWGSL
    descriptor = native.new_struct_p(
        "WGPUShaderModuleDescriptor *",
        nextInChain=native.ffi.cast("WGPUChainedStruct *", source),
        label=native.to_c_string_view(_LABEL),
    )
    made = native.libf.wgpuDeviceCreateShaderModuleTrusted(
        device._internal,
        descriptor,
        native.lib.WGPUShaderRuntimeChecks_None,
    )
    if made == native.ffi.NULL:
        raise wgpu.GPUValidationError("wgpu-native gave no shader module")
    return native.GPUShaderModule(_LABEL, made, device)
