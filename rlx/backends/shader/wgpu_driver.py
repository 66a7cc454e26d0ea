"""The driver over wgpu: Vulkan, Metal and Direct3D 12 adapters."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import wgpu

from rlx.backends.shader import wgsl
from rlx.backends.shader.driver import Copy, Dispatch, Limits, Memory, Prepared
from rlx.backends.shader.dtypes import Host
from rlx.backends.shader.failures import told
from rlx.backends.shader.ir import Kernel
from rlx.backends.shader.wgpu_modules import shader_module
from rlx.backends.shader.wgpu_passes import dispatched
from rlx.errors import SessionClosed, Unavailable, printable

DEVICES = {"Vulkan": "vulkan", "Metal": "metal", "D3D12": "directx"}
"""The device behind each of wgpu's APIs; its OpenGL has no compute on some, and is not used."""
_RAISED = (
    "max-storage-buffers-per-shader-stage",
    "max-storage-buffer-binding-size",
    "max-buffer-size",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroup-size-x",
    "max-compute-workgroup-storage-size",
    "min-storage-buffer-offset-alignment",
)
_KINDS = {"DiscreteGPU": 0, "IntegratedGPU": 1, "Unknown": 2, "CPU": 3}


def adapters(device: str) -> list[Any]:
    """The adapters of a device, hardware first; `gpu` and `webgpu` are any API's."""
    found = [
        one
        for one in wgpu.gpu.enumerate_adapters_sync()
        if one.info["backend_type"] in DEVICES
        and device in (DEVICES[one.info["backend_type"]], "gpu", "webgpu")
    ]
    return sorted(found, key=lambda one: _KINDS.get(one.info["adapter_type"], 2))


class WgpuDriver:
    """One adapter, opened."""

    def __init__(self, adapter: Any, asked: str):
        info = adapter.info
        live = DEVICES[info["backend_type"]]
        self.device = asked if asked in ("gpu", "webgpu") else live
        self.detail = f"{info['device']} ({info['backend_type']})"
        self.software = info["adapter_type"] == "CPU"
        self.version = str(wgpu.__version__)
        wanted = {name: adapter.limits[name] for name in _RAISED}
        try:
            self._device: Any = adapter.request_device_sync(required_limits=wanted)
        except (wgpu.GPUError, RuntimeError) as error:
            raise Unavailable(
                f"{self.detail} gives no device: {printable(str(error).strip())}",
                fix="close other programs that use it, or look at `rlx devices --refresh`.",
            ) from error
        limits = self._device.limits
        self.limits = Limits(
            threads=min(
                limits["max-compute-invocations-per-workgroup"],
                limits["max-compute-workgroup-size-x"],
            ),
            shared_bytes=limits["max-compute-workgroup-storage-size"],
            buffers=limits["max-storage-buffers-per-shader-stage"],
            binding_bytes=limits["max-storage-buffer-binding-size"],
            buffer_bytes=limits["max-buffer-size"],
            alignment=limits["min-storage-buffer-offset-alignment"],
            patient=not self.software,
        )
        self._pipelines: dict[bytes, Any] = {}

    def _telling(self, doing: str) -> AbstractContextManager[None]:
        return told(self.detail, doing, wgpu.GPUError, RuntimeError)

    @property
    def _live(self) -> Any:
        if self._device is None:
            raise SessionClosed(f"{self.detail} is closed")
        return self._device

    def allocate(self, size: int) -> Memory:
        """Memory of so many bytes."""
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        with self._telling(f"allocating {size} bytes"):
            return Memory(self, self._live.create_buffer(size=-(-size // 4) * 4, usage=usage), size)

    def write(self, memory: Memory, words: Host) -> None:
        """Write to the start of memory."""
        with self._telling(f"writing {memory.size} bytes"):
            self._live.queue.write_buffer(memory.handle, 0, words)

    def read(self, memory: Memory, size: int) -> Host:
        """So many bytes from the start of memory; waits for them."""
        with self._telling(f"reading {size} bytes"):
            data = self._live.queue.read_buffer(memory.handle, 0, size)
        return np.frombuffer(data, np.uint32)

    def prepare(self, dispatches: Sequence[Dispatch]) -> Prepared:
        """Compile what is new and bind it all."""
        with self._telling("compiling its kernels"):
            return self._prepared(dispatches)

    def _prepared(self, dispatches: Sequence[Dispatch]) -> Prepared:
        bound = []
        for one in dispatches:
            pipeline = self._pipeline(one.kernel)
            entries = [
                {
                    "binding": place,
                    "resource": {
                        "buffer": binding.memory.handle,
                        "offset": binding.offset,
                        "size": binding.size,
                    },
                }
                for place, binding in enumerate(one.bindings)
            ]
            layout = pipeline.get_bind_group_layout(0)
            group = self._live.create_bind_group(layout=layout, entries=entries)
            bound.append((pipeline, group, one.kernel.grid))

        def copied(encoder: Any, copies: Sequence[Copy]) -> None:
            for one in copies:
                source = one.source
                encoder.copy_buffer_to_buffer(
                    source.memory.handle, source.offset, one.target.handle, one.at, source.size
                )

        def launch(before: Sequence[Copy], after: Sequence[Copy]) -> None:
            with self._telling("running its kernels"):
                encoder = self._live.create_command_encoder()
                copied(encoder, before)
                if bound:
                    compute = encoder.begin_compute_pass()
                    dispatched(compute, bound)
                    compute.end()
                copied(encoder, after)
                self._live.queue.submit([encoder.finish()])

        return launch

    def _pipeline(self, kernel: Kernel) -> Any:
        text = wgsl.source(kernel)
        key = hashlib.sha256(text.encode()).digest()
        found = self._pipelines.get(key)
        if found is None:
            module = shader_module(self._live, text)
            found = self._live.create_compute_pipeline(
                layout="auto", compute={"module": module, "entry_point": "main"}
            )
            self._pipelines[key] = found
        return found

    def close(self) -> None:
        """Release the device; calling it again does nothing."""
        self._pipelines.clear()
        if self._device is not None:
            self._device.destroy()
            self._device = None
