"""The driver over moderngl: OpenGL 4.3 compute, without a window, through EGL."""

from __future__ import annotations

import ctypes
import hashlib
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, ParamSpec, TypeVar

import moderngl
import numpy as np

from rlx.backends.shader import glsl
from rlx.backends.shader.driver import Copy, Dispatch, Limits, Memory, Prepared
from rlx.backends.shader.dtypes import Host
from rlx.backends.shader.failures import told
from rlx.backends.shader.ir import Kernel
from rlx.errors import SessionClosed

P = ParamSpec("P")
R = TypeVar("R")
REQUIRED = 430
"""The version that has compute shaders: contexts of an older one are refused."""
SOFTWARE = ("llvmpipe", "softpipe", "swiftshader", "software")
LARGEST = (1 << 31) - 1
SHARED = 1 << 15
"""The bytes that a workgroup of this version may share at least; moderngl tells of no more."""
EGL = "libEGL.so.1"
"""The library that moderngl loads for EGL."""


class GlDriver:
    """One OpenGL context, and the one thread that it is current in."""

    def __init__(self, index: int):
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rlx-opengl")
        self._dropped: deque[Any] = deque()
        self._pipelines: dict[bytes, Any] = {}
        self._context: Any = None
        self._closed = False
        try:
            self._do(self._open, index)
        except BaseException:
            self._thread.shutdown()
            raise

    def _open(self, index: int) -> None:
        settings: dict[str, Any] = {"backend": "egl", "device_index": index}
        self._context = moderngl.create_context(REQUIRED, standalone=True, **settings)
        info = self._context.info
        self.device = "opengl"
        self.detail = f"{info['GL_RENDERER']} (OpenGL {info['GL_VERSION']})"
        self.software = any(name in self.detail.lower() for name in SOFTWARE)
        self.version = version("moderngl")
        self.limits = Limits(
            threads=int(info["GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS"]),
            shared_bytes=SHARED,
            buffers=int(info["GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS"]),
            binding_bytes=min(int(info["GL_MAX_SHADER_STORAGE_BLOCK_SIZE"]), LARGEST),
            buffer_bytes=LARGEST,
            alignment=256,
            patient=not self.software,
        )

    def _do(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call it in the context's thread.

        Raises:
            SessionClosed: the driver is closed.
        """
        if self._closed:
            raise SessionClosed(f"{self.detail} is closed")
        return self._thread.submit(function, *args, **kwargs).result()

    def allocate(self, size: int) -> Memory:
        """Memory of so many bytes."""
        with told(self.detail, f"allocating {size} bytes", moderngl.Error):
            handle = self._do(self._reserve, size)
        made = Memory(self, handle, size)
        weakref.finalize(made, self._drop, handle).atexit = False
        return made

    def _reserve(self, size: int) -> Any:
        while self._dropped:
            self._dropped.popleft().release()
        made = self._context.buffer(reserve=-(-size // 4) * 4)
        error = self._context.error
        if error != "GL_NO_ERROR":
            made.release()
            raise moderngl.Error(error)
        return made

    def _drop(self, handle: Any) -> None:
        """Have a buffer released by the context's thread, at its next turn.

        The garbage collector calls this, in any thread and at any moment: it takes no lock.
        """
        self._dropped.append(handle)

    def write(self, memory: Memory, words: Host) -> None:
        """Write to the start of memory."""
        with told(self.detail, f"writing {memory.size} bytes", moderngl.Error):
            self._do(memory.handle.write, np.ascontiguousarray(words))

    def read(self, memory: Memory, size: int) -> Host:
        """So many bytes from the start of memory; waits for them."""
        with told(self.detail, f"reading {size} bytes", moderngl.Error):
            return np.frombuffer(self._do(self._read, memory, size), np.uint32).copy()

    def _read(self, memory: Memory, size: int) -> bytes:
        """Through a buffer of its own: drivers move one that is read to the host, for good."""
        staging = self._context.buffer(reserve=-(-size // 4) * 4)
        try:
            self._context.copy_buffer(staging, memory.handle, size)
            return bytes(staging.read(size))
        finally:
            staging.release()

    def prepare(self, dispatches: Sequence[Dispatch]) -> Prepared:
        """Compile what is new and bind it all."""
        with told(self.detail, "compiling its kernels", moderngl.Error):
            ready = self._do(self._compiled, dispatches)

        def launch(before: Sequence[Copy], after: Sequence[Copy]) -> None:
            with told(self.detail, "running its kernels", moderngl.Error):
                self._do(self._run, ready, before, after)

        return launch

    def _compiled(self, dispatches: Sequence[Dispatch]) -> list[tuple[Any, Dispatch]]:
        return [(self._pipeline(one.kernel), one) for one in dispatches]

    def _run(
        self,
        ready: Sequence[tuple[Any, Dispatch]],
        before: Sequence[Copy],
        after: Sequence[Copy],
    ) -> None:
        context = self._context
        self._copied(before)
        for shader, one in ready:
            for place, binding in enumerate(one.bindings):
                binding.memory.handle.bind_to_storage_buffer(
                    place, offset=binding.offset, size=binding.size
                )
            shader.run(*one.kernel.grid)
            context.memory_barrier()
        self._copied(after)

    def _copied(self, copies: Sequence[Copy]) -> None:
        for copy in copies:
            source = copy.source
            self._context.copy_buffer(
                copy.target.handle,
                source.memory.handle,
                source.size,
                read_offset=source.offset,
                write_offset=copy.at,
            )

    def _pipeline(self, kernel: Kernel) -> Any:
        text = glsl.source(kernel)
        key = hashlib.sha256(text.encode()).digest()
        found = self._pipelines.get(key)
        if found is None:
            found = self._pipelines[key] = self._context.compute_shader(text)
        return found

    def close(self) -> None:
        """Release the context; calling it again does nothing."""
        if not self._closed:
            self._do(self._release)
            self._closed = True
            self._thread.shutdown()

    def _release(self) -> None:
        for one in self._pipelines.values():
            one.release()
        self._pipelines.clear()
        while self._dropped:
            self._dropped.popleft().release()
        self._context.release()
        self._context = None
        _leave_thread()


def _leave_thread() -> None:
    """Have EGL let go of the thread: a released context lives on while it is current in one."""
    ctypes.CDLL(EGL).eglReleaseThread()
