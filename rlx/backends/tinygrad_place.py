"""One device of tinygrad: the settings under which it is used, and memory on it."""

from __future__ import annotations

import os
import sqlite3
from math import prod
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Array = np.ndarray[Any, Any]

LOCK = RLock()
"""Held while tinygrad is used: its settings and what it is recording are the process's."""
EXACT = {
    "ALLOW_TF32": 0,
    "DEFAULT_FLOAT": "float32",
    "DEFAULT_INT": "int32",
    "EMULATED_DTYPES": "",
    "FLOAT16": 0,
    "IMAGE": 0,
    "JIT": 1,
    "PARALLEL": 0,
}
"""Settings that keep the program's precision, and start no processes, whatever variables say."""
_stores: list[tuple[int, Any]] = []
"""By process, what was tinygrad's connection to its store before; the last is this process's."""
if hasattr(os, "register_at_fork"):  # a child's lock is its own, whoever held its parent's
    os.register_at_fork(after_in_child=lambda: globals().update(LOCK=RLock()))


def kernels() -> int:
    """Open tinygrad's store of compiled kernels for all threads; 0 where it can't be written to.

    tinygrad's own connection is the first thread's alone, and none survives a fork.
    """
    from tinygrad import helpers

    if _stores and _stores[-1][0] == os.getpid():
        return int(helpers._db_connection is not None) * 2
    opened = None
    file = Path(helpers.CACHEDB)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if os.access(file if file.exists() else file.parent, os.W_OK):
            opened = sqlite3.connect(
                file, timeout=60, isolation_level="IMMEDIATE", check_same_thread=False
            )
            opened.execute("PRAGMA journal_mode=WAL")
            opened.execute("PRAGMA synchronous=NORMAL")
    except (OSError, sqlite3.Error):
        opened = None
    _stores.append((os.getpid(), helpers._db_connection))  # a parent's is kept, and not closed
    helpers._db_connection = opened
    return 0 if opened is None else 2


class Place:
    """A device, opened."""

    def __init__(self, target: str, beam: int = 0):
        from tinygrad.helpers import Context

        interface, _, name = target.rpartition("+")
        self._settings = {**EXACT, "BEAM": beam, "DEV": target}
        self._context = Context
        with self.entered():
            # Imported here: its defaults are made on the device that is set.
            import tinygrad.nn.onnx  # noqa: F401
            from tinygrad import Device

            self.device = Device[name]
        self.name = name
        """tinygrad's name of it."""
        used = type(getattr(self.device, "iface", None)).__name__.removesuffix("Iface")
        if interface and used != interface:
            raise ContractError(f"tinygrad has opened {name} by {used}, asked for {interface}")

    @property
    def detail(self) -> str:
        """What is known of the device: its name or architecture."""
        known = getattr(self.device, "device_name", None) or self.device.arch
        return str(known or self.device.device)

    def entered(self) -> Any:
        """tinygrad's settings for this device, until the block ends; hold the lock."""
        return self._context(**self._settings, CACHELEVEL=kernels())

    def tensor(self, shape: Sequence[int], dtype: Any) -> Any:
        """A tensor with memory of its own."""
        from tinygrad import Tensor

        made = Tensor.empty(*shape, dtype=dtype, device=self.name)
        if made.numel():
            made.uop.buffer.ensure_allocated()
        return made

    def sum_of_ones(self) -> float:
        """A sum of eight ones, computed on the device."""
        from tinygrad import Tensor

        with LOCK, self.entered():
            ones = Tensor(np.ones(8, np.float32), device=self.name)
            return float(ones.contiguous().sum().item())

    def window(self, buffer: Any, dtype: Any, shape: tuple[int, ...]) -> Array | None:
        """NumPy's view of a buffer, where the host sees the device's memory."""
        seen = getattr(buffer.allocator, "_as_buffer", None)
        if seen is None:
            return None
        return np.frombuffer(seen(buffer._buf), dtype, count=prod(shape)).reshape(shape)

    def write(self, buffer: Any, array: Array) -> None:
        """Copy an array of a buffer's size into it; what it runs must have ended."""
        window = self.window(buffer, array.dtype, array.shape)
        if window is not None:
            window[...] = array
            return
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        # tinygrad takes the address of memory that may be written only.
        buffer.allocator._copyin(buffer._buf, (raw if raw.flags.writeable else raw.copy()).data)

    def read(self, buffer: Any, dtype: Any, shape: tuple[int, ...]) -> Array:
        """A buffer's content as a new array, once the device is done."""
        made = np.empty(shape, dtype)
        buffer.allocator._copyout(made.reshape(-1).view(np.uint8).data, buffer._buf)
        return made
