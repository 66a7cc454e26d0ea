"""The null backend: it opens on any device, compiles any program, and returns zeros.

A `Watch` counts what is done with it, and can make it fail, wait, or lie.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import PrecisionError
from rlx.session.inputs.dtypes import numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rlx.backends.protocol import CompileOptions
    from rlx.device import DeviceSpec
    from rlx.program import Program, Value

FACTORY = "rlx.testing:open_null"


@dataclass(slots=True)
class Watch:
    """What was done with the null backends under one name, and how they are to behave."""

    opened: int = 0
    closed: int = 0
    compiled: int = 0
    ran: int = 0
    open_error: BaseException | None = None
    """Raised by the factory."""
    compile_error: Exception | None = None
    run_error: Exception | None = None
    close_error: Exception | None = None
    gate: threading.Event | None = None
    """The factory waits for it."""
    device: str | None = None
    """What the opened backend says its device is; None: the one that was asked for."""
    compiled_device: str | None = None
    """What its executables say their device is; None: as the backend."""
    outputs: Any = None
    """What `run` returns instead of zeros."""
    precisions: tuple[str, ...] = ("f32", "f16", "bf16")
    """The precisions that it can compile for."""
    specs: list[DeviceSpec] = field(default_factory=list)
    """The device specs that were opened, in order."""
    options: list[CompileOptions] = field(default_factory=list)
    """The options of each compilation, in order."""
    programs: list[Program] = field(default_factory=list)
    """The programs that were handed over to be compiled, in order."""

    def count(self, what: str) -> None:
        """Add one to a counter; several threads may."""
        with _counting:
            setattr(self, what, getattr(self, what) + 1)


_counting = threading.Lock()
_watches: dict[str, Watch] = {}


def watch(name: str = "null") -> Watch:
    """The watch on null backends whose registration has `options: {watch: name}`."""
    return _watches.setdefault(name, Watch())


def forget_watches() -> None:
    """Begin anew: every null backend that is opened from now on behaves, and counts from 0."""
    _watches.clear()


class NullExecutable:
    """Returns zeros; sizes that are symbols are those of the inputs, unknown ones are 1."""

    def __init__(self, program: Program, device: str, watching: Watch):
        self._program = program
        self._device = watching.compiled_device or device
        self._watch = watching
        self._symbols = {
            size: (position, axis)
            for position, value in enumerate(program.inputs)
            for axis, size in enumerate(value.type.shape or ())
            if isinstance(size, str)
        }

    @property
    def device(self) -> str:
        """The device that it runs on."""
        return self._device

    def run(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """One array of zeros per output."""
        self._watch.count("ran")
        if self._watch.run_error is not None:
            raise self._watch.run_error
        if self._watch.outputs is not None:
            return self._watch.outputs  # type: ignore[no-any-return]
        return [self._zeros(value, inputs) for value in self._program.outputs]

    def _zeros(self, value: Value, inputs: Sequence[Any]) -> Any:
        if value.type.kind != "tensor":
            return [] if value.type.kind == "sequence" else None
        shape = []
        for size in value.type.shape or ():
            position, axis = (
                self._symbols.get(size, (None, 0)) if isinstance(size, str) else (None, 0)
            )
            known = size if isinstance(size, int) else 1
            shape.append(known if position is None else inputs[position].shape[axis])
        if value.type.dtype == "string":
            return np.full(shape, "", object)
        return np.zeros(shape, numpy_dtype(value.type.dtype))

    def close(self) -> None:
        """Nothing is held."""


class NullBackend:
    """Does nothing, on any device."""

    version = "null"

    def __init__(self, device: str, watching: Watch):
        self._watch = watching
        self._device = watching.device or device
        self._open = True

    @property
    def device(self) -> str:
        """The device that was opened."""
        return self._device

    def compile(self, program: Program, options: CompileOptions) -> NullExecutable:
        """Accept any program.

        Raises:
            PrecisionError: a precision that its watch does not list.
        """
        self._watch.count("compiled")
        self._watch.options.append(options)
        self._watch.programs.append(program)
        if self._watch.compile_error is not None:
            raise self._watch.compile_error
        if options.precision is not None and options.precision not in self._watch.precisions:
            raise PrecisionError(f"the null backend can't compute in {options.precision}")
        return NullExecutable(program, self._device, self._watch)

    def close(self) -> None:
        """Count the closing; calling it again does nothing."""
        if self._open:
            self._open = False
            self._watch.count("closed")
            if self._watch.close_error is not None:
                raise self._watch.close_error


def open_null(spec: DeviceSpec, options: Mapping[str, object]) -> NullBackend:
    """The null backend's factory; the option `watch` names the watch on it."""
    watching = watch(str(options.get("watch", "null")))
    watching.count("opened")
    watching.specs.append(spec)
    if watching.gate is not None:
        watching.gate.wait()
    if watching.open_error is not None:
        raise watching.open_error
    return NullBackend(spec.name, watching)
