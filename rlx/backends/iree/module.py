"""A module on a device: weights are there once, inputs are copied in, outputs are copied out."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.backends.array.dtypes import numpy_dtype
from rlx.backends.iree.signature import ELEMENTS, Signature
from rlx.errors import CorruptArtifact, SessionClosed, said

ENTRY = "main"


class Module:
    """A module with its weights. Runs wait for each other: IREE's contexts are of one thread."""

    def __init__(
        self,
        data: bytes,
        signature: Signature,
        weights: Sequence[np.ndarray[Any, Any]],
        name: str,
        index: int,
    ):
        """Load it on the device `name:index`.

        Raises:
            CorruptArtifact: IREE can't read it, or it has another signature.
            Unavailable: there is no such device.
        """
        import iree.runtime as runtime

        from rlx.backends.iree.devices import closed_at_exit, device, instance
        from rlx.backends.iree.versions import runtime as version

        self.device = name
        self._runtime = runtime
        self._signature = signature
        self._live = device(name, index)
        try:
            module = runtime.VmModule.copy_buffer(instance(), data)
            hal = runtime.create_hal_module(instance(), self._live)
            self._context: Any = runtime.VmContext(instance(), [hal, module])
            self._entry: Any = module.lookup_function(ENTRY)
        except Exception as error:
            raise CorruptArtifact(
                f"IREE {version()} can't load its module on {name}: {said(error)}"
            ) from error
        if self._entry is None:
            raise CorruptArtifact(f"its module has no function {ENTRY}")
        self._weights = [
            self._to_device(x, dtype)
            for x, (dtype, _) in zip(weights, signature.weights, strict=True)
        ]
        self._lock = threading.Lock()
        closed_at_exit(self)

    def run(self, inputs: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
        """Run once; inputs are NumPy arrays of the signature's dtypes and shapes.

        Raises:
            SessionClosed: it was closed.
        """
        runtime = self._runtime
        types = self._signature.inputs
        with self._lock:
            if self._context is None:
                raise SessionClosed("the executable is closed")
            arguments = runtime.VmVariantList(len(types) + len(self._weights))
            for view in self._weights:
                arguments.push_ref(view)
            for x, (dtype, _) in zip(inputs, types, strict=True):
                arguments.push_ref(self._to_device(x, dtype))
            results = runtime.VmVariantList(len(self._signature.outputs))
            self._context.invoke(self._entry, arguments, results)
            return [
                self._to_host(results.get_as_object(at, runtime.HalBufferView), dtype, shape)
                for at, (dtype, shape) in enumerate(self._signature.outputs)
            ]

    def close(self) -> None:
        """Free the module and its weights; calling it again does nothing."""
        with self._lock:
            self._weights = []
            self._entry = None
            self._context = None
            self._live = None

    def _to_device(self, x: Any, dtype: str) -> Any:
        """A copy of an array on the device."""
        runtime = self._runtime
        x = np.asarray(x, order="C")
        if dtype == "bfloat16":
            x = x.view(np.uint16)  # NumPy's buffers have no such dtype
        return self._live.allocator.allocate_buffer_copy(
            memory_type=runtime.MemoryType.DEVICE_LOCAL,
            allowed_usage=runtime.BufferUsage.DEFAULT,
            device=self._live,
            buffer=x,
            element_type=getattr(runtime.HalElementType, ELEMENTS[dtype]),
        )

    def _to_host(self, view: Any, dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """A copy of what a buffer on the device holds."""
        kind = numpy_dtype(dtype)
        if not np.prod(shape, dtype=np.int64):
            return np.empty(shape, kind)
        buffer = view.get_buffer()
        if not buffer.allowed_usage() & int(self._runtime.BufferUsage.MAPPING_SCOPED):
            buffer = self._staged(buffer)
        mapped = buffer.map()
        raw = mapped.asarray([buffer.byte_length()], np.dtype(np.uint8))
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        made: np.ndarray[Any, Any] = np.array(raw[:size]).view(kind).reshape(shape)
        return made

    def _staged(self, buffer: Any) -> Any:
        """A copy of a buffer where the host can map it.

        IREE's own `to_host` has the device write into NumPy's memory, which takes an alignment
        that lavapipe does not say rightly.
        """
        runtime, live = self._runtime, self._live
        target = live.allocator.allocate_buffer(
            runtime.MemoryType.HOST_LOCAL | runtime.MemoryType.DEVICE_VISIBLE,
            runtime.BufferUsage.TRANSFER | runtime.BufferUsage.MAPPING,
            buffer.byte_length(),
        )
        done = live.create_semaphore(0)
        live.queue_copy(
            buffer,
            target,
            runtime.HalFence.create_at(done, 0),
            runtime.HalFence.create_at(done, 1),
        )
        runtime.HalFence.create_at(done, 1).wait()
        return target
