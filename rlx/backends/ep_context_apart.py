"""Contexts in a process of their own: QNN's first settings hold until a process ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from rlx.backends.isolated import Isolated
from rlx.backends.protocol import CompileOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rlx.backends.ports import Ports
    from rlx.backends.protocol import Array, Executable
    from rlx.device import DeviceSpec
    from rlx.program import Program

Context = tuple[bytes, "Ports"]


class Apart:
    """Contexts that another process has loaded, and that process."""

    def __init__(self, id: str, model: bytes, ports: Ports, spec: DeviceSpec):
        self._process = Isolated(id, f"{__name__}:Loading", spec, {})
        try:
            loaded = self._process.compile(cast("Program", (model, ports)), CompileOptions())
        except BaseException:
            self._process.close()
            raise
        self._loaded = loaded
        self.device = loaded.device

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Run there; the outputs are this process's own."""
        return self._loaded.run(inputs)

    def close(self) -> None:
        """End the process; calling it again does nothing."""
        self._loaded.close()
        self._process.close()


class Loading:
    """Within that process: a backend whose programs are contexts."""

    version = ""

    def __init__(self, spec: DeviceSpec, _: Mapping[str, object]):
        self._spec = spec
        self.device = spec.name

    def compile(self, program: Any, _: CompileOptions) -> Executable:
        """Load the contexts."""
        from rlx.backends.ep_context import opened

        model, ports = program
        return opened(model, ports, self._spec)

    def close(self) -> None:
        """Nothing is held: what is loaded belongs to the executables."""
