"""The backends' factories and probes, by device; looking one up imports no graphics library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rlx.backends.forks import refuse_forked
from rlx.backends.protocol import Found
from rlx.errors import ExecutionError, SettingError, Unavailable, said

if TYPE_CHECKING:
    from rlx.backends.shader.backend import ShaderBackend
    from rlx.backends.shader.driver import Driver
    from rlx.device import DeviceSpec

VULKAN_DRIVER = (
    "install the GPU's driver with Vulkan (for Mesa's GPUs, Debian's mesa-vulkan-drivers)"
)
EGL_DRIVER = (
    "install the GPU's driver with EGL (for Mesa's GPUs, Debian's libegl1 and libgl1-mesa-dri)"
)


def _open_wgpu(device: str, spec: DeviceSpec, options: Mapping[str, object]) -> ShaderBackend:
    """Open an adapter through wgpu; its index counts hardware first. There are no options.

    Raises:
        SettingError: an option was given.
        Unavailable: there is no such adapter, or wgpu was used before a fork.
    """
    from rlx.backends.shader.backend import ShaderBackend

    for name in options:
        raise SettingError(f"wgpu-{device} has no option {name!r}", fix="remove it.")
    return ShaderBackend(_wgpu_driver(device, spec.index or 0), "wgpu")


def _wgpu_driver(device: str, index: int) -> Driver:
    refuse_forked("wgpu")
    from rlx.backends.shader.wgpu_driver import WgpuDriver, adapters

    found = adapters(device)
    if index >= len(found):
        raise Unavailable(
            f"wgpu has {len(found)} {device} adapter(s), got {device}:{index}",
            fix=f"{VULKAN_DRIVER}, or look at `rlx devices`.",
        )
    return _tried(WgpuDriver(found[index], device))


def _probe(open_driver: partial[Driver], index: int) -> Found | str:
    """Why there is no such adapter, or what it is; a sum is computed to see."""
    import numpy as np

    from rlx.backends.shader.backend import library_of
    from rlx.backends.shader.namespace.reduction import sum as sum_of

    try:
        driver = open_driver(index)
    except Unavailable as error:
        return f"{error.message}; {error.fix.partition(', or ')[0].removesuffix('.')}"
    library = library_of(driver, "probe")
    ones = library.to_native(np.ones(8, np.float32))
    (total,) = library.guard(lambda: [sum_of(ones)])
    value = float(library.to_host(total))
    if value != 8.0:
        return f"a sum of eight ones gave {value}"
    return Found(driver.software, driver.detail)


def open_opengl(spec: DeviceSpec, options: Mapping[str, object]) -> ShaderBackend:
    """Open OpenGL 4.3 on an EGL device. There are no options.

    Raises:
        SettingError: an option was given.
        Unavailable: there is no such device or no such version, or it was used before a fork.
    """
    from rlx.backends.shader.backend import ShaderBackend

    for name in options:
        raise SettingError(f"opengl has no option {name!r}", fix="remove it.")
    return ShaderBackend(_gl_driver(spec.index or 0), "opengl")


def _gl_driver(index: int) -> Driver:
    refuse_forked("moderngl")
    from rlx.backends.shader.gl_driver import GlDriver

    try:
        driver = GlDriver(index)
    except Exception as error:
        raise Unavailable(
            f"OpenGL 4.3 cannot be opened on EGL device {index}: {said(error)}",
            fix=f"{EGL_DRIVER}, or look at `rlx devices`.",
        ) from error
    return _tried(driver)


def _tried(driver: Driver) -> Driver:
    """The driver, which knows of its floats what only trying tells.

    Raises:
        Unavailable: it does not compute what is written.
    """
    from rlx.backends.shader.exactness import is_faithful, loose

    try:
        if not is_faithful(driver):
            raise Unavailable(
                f"{driver.detail} simplifies x - x to 0, which is wrong for NaN and infinities",
                fix="update the GPU's driver, or choose another device.",
            )
        driver.limits = replace(driver.limits, loose=loose(driver))
    except ExecutionError as error:
        driver.close()
        raise Unavailable(error.message, fix=error.fix) from None
    except BaseException:
        driver.close()
        raise
    return driver


def probe_opengl(index: int) -> Found | str:
    """What EGL device there is."""
    return _probe(partial(_gl_driver), index)


open_vulkan = partial(_open_wgpu, "vulkan")
open_webgpu = partial(_open_wgpu, "webgpu")
open_gpu = partial(_open_wgpu, "gpu")
open_directx = partial(_open_wgpu, "directx")
open_metal = partial(_open_wgpu, "metal")


def probe_vulkan(index: int) -> Found | str:
    """What Vulkan adapter there is."""
    return _probe(partial(_wgpu_driver, "vulkan"), index)


def probe_webgpu(index: int) -> Found | str:
    """What adapter of wgpu's own choice there is."""
    return _probe(partial(_wgpu_driver, "webgpu"), index)


def probe_gpu(index: int) -> Found | str:
    """What adapter there is, through any API."""
    return _probe(partial(_wgpu_driver, "gpu"), index)


def probe_directx(index: int) -> Found | str:
    """What Direct3D 12 adapter there is."""
    return _probe(partial(_wgpu_driver, "directx"), index)


def probe_metal(index: int) -> Found | str:
    """What Metal adapter there is."""
    return _probe(partial(_wgpu_driver, "metal"), index)
