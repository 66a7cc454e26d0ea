"""What the generator needs of a graphics API: a small interface, the same for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rlx.backends.shader.dtypes import Host
    from rlx.backends.shader.ir import Kernel


@dataclass(frozen=True, slots=True)
class Limits:
    """What an adapter allows."""

    threads: int
    """Invocations of a workgroup."""
    shared_bytes: int
    """Bytes of memory that a workgroup shares."""
    buffers: int
    """Storage buffers that a shader can bind."""
    binding_bytes: int
    """Bytes of a buffer that a shader can see."""
    buffer_bytes: int
    alignment: int
    """What the first byte that is bound must be a multiple of."""
    groups: int = 65535
    """Workgroups of a grid along one axis; no standard allows fewer."""
    loose: frozenset[str] = frozenset()
    """The scalar functions that it does not compute as IEEE 754 says, subnormal numbers apart."""
    patient: bool = True
    """Whether long kernels are worth their compilation: not where a CPU emulates the device."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Memory:
    """A buffer on the device; it is released with the last reference to it."""

    driver: Driver
    handle: Any
    size: int


@dataclass(frozen=True, slots=True)
class Binding:
    """A part of a buffer that a kernel sees."""

    memory: Memory
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A kernel, and what its buffers are bound to, in order."""

    kernel: Kernel
    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """Bytes copied on the device, to a place in other memory."""

    source: Binding
    target: Memory
    at: int = 0


Prepared = Callable[[Sequence[Copy], Sequence[Copy]], None]
"""Dispatches that are ready: called, the first copies, they in order, and the other copies are one
submission."""


class Driver(Protocol):
    """An adapter, opened. Any thread may call it, one at a time."""

    device: str
    """The device's id, read from the live adapter."""
    detail: str
    """The adapter's name."""
    version: str
    software: bool
    """True where a CPU emulates the device."""
    limits: Limits

    def allocate(self, size: int) -> Memory:
        """Memory of so many bytes, of undefined content."""
        ...

    def write(self, memory: Memory, words: Host) -> None:
        """Write to the start of memory."""
        ...

    def read(self, memory: Memory, size: int) -> Host:
        """So many bytes from the start of memory, as uint32 of their own; waits for them."""
        ...

    def prepare(self, dispatches: Sequence[Dispatch]) -> Prepared:
        """Compile what is new and bind it all."""
        ...

    def close(self) -> None:
        """Release the device; calling it again does nothing."""
        ...
