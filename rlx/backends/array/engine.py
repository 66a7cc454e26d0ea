"""The engine: compiles programs to plans for one array library, and runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.control import compile_draft
from rlx.backends.array.draft import Draft
from rlx.backends.array.host import NUMPY
from rlx.backends.array.start import Compiling, examples, starter
from rlx.backends.precision import as_stated
from rlx.errors import SessionClosed

if TYPE_CHECKING:
    from rlx.backends.array.library import Host, Library
    from rlx.backends.array.plan import Plan
    from rlx.backends.array.site import Array
    from rlx.backends.protocol import CompileOptions
    from rlx.program import Program
    from rlx.program.types import ValueType


def copied(value: Any, copy: Callable[[Array], Array]) -> Any:
    """The value in memory of its own: a sequence with every item, and a map, copied too."""
    if value.__class__ is list:
        return [copied(item, copy) for item in value]
    if value.__class__ is dict:
        return dict(value)
    if value.__class__ is np.ndarray:
        return np.array(value, order="C")
    return None if value is None else copy(value)


class ArrayExecutable:
    """A compiled program. Runs may overlap: what a run computes is held by that run alone."""

    def __init__(self, plan: Plan, library: Library, name: str = ""):
        self._plan: Plan | None = plan
        self._library = library
        self._run = starter(plan, library, name)
        self.device = library.device

    @property
    def uncompiled(self) -> str | None:
        """Why steps run one by one though the library compiles programs; else None."""
        return getattr(self._run, "uncompiled", None)

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Run once: inputs in the program's input order, outputs in its output order.

        An input is a NumPy array, or one of the library on this device; outputs are the library's.

        Raises:
            ExecutionError: a kernel failed; the message names its node.
            SessionClosed: the executable is closed.
        """
        plan = self._plan
        if plan is None:
            raise SessionClosed("the executable is closed")
        outputs: list[Array] = self._library.guard(self._run, inputs)
        copy = self._library.copy
        if copy is not None:
            for position in plan.copied:
                outputs[position] = copied(outputs[position], copy)
        return outputs

    def prepare(self, types: Sequence[ValueType]) -> None:
        """Compile before the first run, where the inputs' sizes are known and none says how."""
        plan = self._plan
        if plan is not None and isinstance(self._run, Compiling) and not any(plan.host_inputs):
            given = examples(types)
            if given is not None:
                self._library.guard(self._run.prepare, given)

    def to_host(self, array: Array) -> Host:
        """One of the outputs as a NumPy array; it may share memory."""
        return array if isinstance(array, np.ndarray) else self._library.to_host(array)

    def to_device(self, array: Host) -> Array:
        """A NumPy array as one of the library, on the device; it may share memory."""
        return self._library.guard(self._library.to_native, array)

    def adopt(self, value: object) -> Array | None:
        """The value, where it is an array of the library on this device; None: it is not.

        Nor is one that records what is done with it, for gradients: there would be none.
        """
        if not self._library.owns(value) or getattr(value, "requires_grad", False):
            return None
        return value

    def describe(self, array: Array) -> tuple[str, tuple[int, ...]]:
        """The dtype, by ONNX's name, and the shape of an array that was adopted."""
        name_of = NUMPY.name_of if isinstance(array, np.ndarray) else self._library.name_of
        return name_of(array), tuple(array.shape)

    def close(self) -> None:
        """Let go of the constants; calling it again does nothing."""
        self._plan = None
        self._run = _closed


def _closed(_: Sequence[Array]) -> list[Array]:
    raise SessionClosed("the executable is closed")


class ArrayBackend:
    """One array library on one device."""

    def __init__(self, library: Library):
        self._library = library
        self.device = library.device
        self.version = library.version

    def compile(self, program: Program, options: CompileOptions) -> ArrayExecutable:
        """Compile a program.

        Raises:
            PrecisionError: another precision than the program's is asked for.
            NotImplementedError: an operation has no kernel here.
        """
        as_stated(program, options, self._library.name)
        library = self._library
        draft = Draft.from_block(program.body, library)
        plan = NUMPY.guard(library.guard, compile_draft, draft)
        executable = ArrayExecutable(plan, library, program.name)
        if library.feeds:
            executable.prepare([value.type for value in program.inputs])
        return executable

    def close(self) -> None:
        """Nothing is held beyond what executables hold."""
