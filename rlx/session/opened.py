"""What is around every opened backend: all of the protocol, and stages where it has no barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.errors import UnsupportedFeature, printable
from rlx.router import barriers

if TYPE_CHECKING:
    from rlx.backends.protocol import Backend, CompileOptions, Executable
    from rlx.program import Program
    from rlx.registration import Registration


class Opened:
    """A backend as its factory made it, which is handed programs in stages where it must be.

    Whatever else it has, in the protocol or besides, is the backend's own.
    """

    def __init__(self, backend: Backend, registration: Registration):
        self._backend = backend
        self._id = registration.id
        self._device = registration.device
        self._capabilities = registration.capabilities

    @property
    def device(self) -> str:
        """The device that was opened, read from the live engine."""
        return self._backend.device

    @property
    def version(self) -> str:
        """The engine's version."""
        return self._backend.version

    def compile(self, program: Program, options: CompileOptions) -> Executable:
        """Compile a program, or the stages of one with barriers: see `rlx.session.stages`.

        Raises:
            UnsupportedFeature: it has barriers, which the backend neither has nor allows to cut at.
        """
        if barriers.NATIVE not in program.requirements.capabilities:
            return self._backend.compile(program, options)
        path = barriers.path(self._capabilities, options.kernel_dispatch)
        if path == "native":
            return self._backend.compile(program, options)
        if path == "missing":
            raise UnsupportedFeature(
                f"{self._id} has no barriers, and {printable(program.name)} may not be cut at its",
                fix="choose another backend: rlx.route(program) says which fit.",
            )
        from rlx.session.stages import compile_stages

        return compile_stages(self._backend, program, options, self._id, self._device)

    def close(self) -> None:
        """Release the device."""
        self._backend.close()

    def __getattr__(self, name: str) -> Any:
        if name == "_backend":  # while it is unpickled or copied
            raise AttributeError(name)
        return getattr(self._backend, name)

    def __repr__(self) -> str:
        return f"<Opened {self._backend!r}>"


def barrier_capabilities(registration: Registration) -> tuple[str, ...]:
    """Those of a registration's capabilities that say how it is handed barriers."""
    held = registration.capabilities
    return tuple(one for one in (barriers.NATIVE, barriers.WHOLE) if one in held)
