"""The engine: compiles programs to plans for one array library, and runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.backends.array.control import compile_draft
from rlx.backends.array.draft import Draft
from rlx.backends.array.execute import execute
from rlx.backends.precision import as_stated
from rlx.errors import SessionClosed

if TYPE_CHECKING:
    from rlx.backends.array.plan import Plan
    from rlx.backends.array.site import Array
    from rlx.backends.protocol import CompileOptions
    from rlx.program import Program


@dataclass(frozen=True, slots=True)
class Library:
    """What the engine needs of an array library beyond its namespace."""

    name: str
    xp: Any
    """The array namespace, from array-api-compat."""
    version: str
    device: str
    to_native: Callable[[Array], Array]
    """Turns a NumPy array into one of the library, which may share its memory."""
    copy: Callable[[Array], Array]
    guard: Callable[..., Any]
    """Called as `guard(function, *arguments)`: calls it where kernels may run, such as with
    warnings silenced."""


class ArrayExecutable:
    """A compiled program. Runs may overlap: what a run computes is held by that run alone."""

    def __init__(self, plan: Plan, library: Library):
        self._plan: Plan | None = plan
        self._library = library
        self.device = library.device

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Run once: inputs in the program's input order, outputs in its output order.

        Raises:
            ExecutionError: a kernel failed; the message names its node.
            SessionClosed: the executable is closed.
        """
        plan = self._plan
        if plan is None:
            raise SessionClosed("the executable is closed")
        outputs: list[Array] = self._library.guard(execute, plan, inputs)
        for position in plan.copied:
            outputs[position] = self._library.copy(outputs[position])
        return outputs

    def close(self) -> None:
        """Let go of the constants; calling it again does nothing."""
        self._plan = None


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
        draft = Draft.from_block(program.body, library.xp, library.to_native)
        plan = library.guard(compile_draft, draft)
        return ArrayExecutable(plan, library)

    def close(self) -> None:
        """Nothing is held beyond what executables hold."""
