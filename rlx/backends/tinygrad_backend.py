"""The opened tinygrad device: programs become runners of tinygrad's own kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.precision import as_stated

if TYPE_CHECKING:
    from rlx.backends.protocol import CompileOptions
    from rlx.backends.tinygrad_place import Place
    from rlx.backends.tinygrad_run import Compiled
    from rlx.program import Program


class TinyGrad:
    """One device of tinygrad."""

    def __init__(self, place: Place, device: str, id: str):
        self._place, self._id = place, id
        self.device = device

    @property
    def version(self) -> str:
        """The version of the package: tinygrad itself does not know it."""
        from importlib.metadata import version

        return version("tinygrad")

    def compile(self, program: Program, options: CompileOptions) -> Compiled:
        """Read the program, stamped with the lowest opset that it fits; kernels are made on use.

        Raises:
            PrecisionError: another precision than the program's is asked for.
            ExecutionError: tinygrad can't read it, or lacks an operation, which is named.
        """
        from rlx.backends.tinygrad_run import Compiled

        as_stated(program, options, self._id)
        return Compiled(program, self._place, self._id, self.device)

    def close(self) -> None:
        """tinygrad keeps its devices until the process ends."""
