"""The seam: what a backend is to the rest of rlx. A plain module or class can satisfy it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rlx.errors import UnsupportedFeature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from rlx.device import DeviceSpec
    from rlx.program import Program

Array = Any
"""An array of the backend's own library, or anything with `__dlpack__` or `__array__`."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """What a caller may ask of one compilation."""

    precision: str | None = None
    """`f32`, `f16` or `bf16`; None: as the program says."""
    precision_policy: str = "error"
    """What happens where the engine would use less: `error`, `warn` or `allow`."""
    kernel_dispatch: str = "prefer-native"


@dataclass(frozen=True, slots=True)
class Found:
    """What a `call` probe may return instead of None: the device works, and this is what it is."""

    software: bool = False
    """True when a CPU emulates the device; such a device is used only when it is asked for."""
    detail: str = ""
    """Free text for listings, such as the adapter's name."""


class TooLarge(UnsupportedFeature):
    """A program needs more of the opened device than it allows; nothing of it has run."""

    fix = "choose another device: run `rlx devices`."


@runtime_checkable
class Executable(Protocol):
    """A compiled program on one device."""

    @property
    def device(self) -> str:
        """The device actually used, read from the live engine: a device id, such as `cpu`."""
        ...

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Run once: inputs in the program's input order, outputs in its output order.

        Inputs are NumPy arrays that were checked against the program's names, dtypes and shapes
        (sequences are lists, absent optionals None); with `NativeArrays`, also those that were
        adopted. Inputs are not written to, outputs are not views of the inputs, and no later run
        writes to them.
        """
        ...

    def close(self) -> None:
        """Release what the executable holds; calling it again does nothing."""
        ...


@runtime_checkable
class NativeArrays(Protocol):
    """What an executable may offer besides, all of it or nothing: arrays of the backend's own.

    With it, such arrays go in without a detour through NumPy, outputs that NumPy's protocols
    can't read become NumPy arrays, and a graph's params are moved to the device once. `run` then
    takes NumPy arrays and the backend's own, also mixed.
    """

    def adopt(self, value: object) -> Array | None:
        """The value as an array of the backend's own, where it is one and on this device.

        Nothing is cast and nothing is copied; None for everything else, NumPy arrays included.
        """
        ...

    def describe(self, array: Array) -> tuple[str, tuple[int, ...]]:
        """The dtype, by ONNX's name, and the shape of an array that was adopted."""
        ...

    def to_host(self, array: Array) -> np.ndarray[Any, Any]:
        """One of `run`'s outputs as a NumPy array, of ml_dtypes' dtype where NumPy has none."""
        ...

    def to_device(self, array: np.ndarray[Any, Any]) -> Array:
        """A NumPy array, which its caller no longer writes to, as one of the backend's own."""
        ...


@runtime_checkable
class Backend(Protocol):
    """One engine, opened on one device; made by a registration's factory.

    A factory is called as `factory(spec, options)`: a `DeviceSpec` with its index, and the
    registration's options. It raises where the device cannot be opened.
    """

    @property
    def device(self) -> str:
        """The device that was opened, read from the live engine: a device id, such as `cpu`."""
        ...

    @property
    def version(self) -> str:
        """The engine's version, as the engine reports it."""
        ...

    def compile(self, program: Program, options: CompileOptions) -> Executable:
        """Compile a program; the backend may keep and share what it makes.

        `TooLarge` says that the device's limits are too low for it.
        """
        ...

    def close(self) -> None:
        """Release the device; calling it again does nothing."""
        ...


class Factory(Protocol):
    """Opens a backend; named in a manifest as `module:attribute`."""

    def __call__(self, spec: DeviceSpec, options: Mapping[str, object]) -> Backend:
        """Open the backend on `spec`."""
        ...
