"""The seam of payloads: what a target compiler makes, and what a materializer takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rlx.errors import CorruptArtifact

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rlx.backends.protocol import Executable
    from rlx.device import DeviceSpec
    from rlx.program import Program


@dataclass(frozen=True, slots=True)
class Target:
    """What a compiler compiles for: a registration's target, device and options."""

    id: str
    device: str
    options: tuple[tuple[str, object], ...] = ()
    precision: str | None = None
    """`f32`, `f16` or `bf16`; None: as the program says."""


@dataclass(frozen=True, slots=True)
class Payload:
    """What a compiler made, as an artifact carries it: named parts, in name order."""

    format: str
    toolchain: str
    """The compiler's name and version, such as `jax 0.10.2`."""
    parts: tuple[tuple[str, bytes], ...]

    def part(self, name: str) -> bytes:
        """The content of one part.

        Raises:
            KeyError: there is no such part.
        """
        return dict(self.parts)[name]

    def only(self, *names: str, optional: Collection[str] = ()) -> dict[str, bytes]:
        """The parts by name, which are these; of those that are optional, any.

        Raises:
            CorruptArtifact: one is missing, or there is another.
        """
        found = dict(self.parts)
        missing = sorted(set(names) - found.keys())
        extra = sorted(found.keys() - {*names, *optional})
        if missing or extra:
            said = [f"lacks the part {name}" for name in missing]
            said += [f"has the part {name}, which it should not" for name in extra]
            raise CorruptArtifact(f"the payload is no {self.format}: it {', and '.join(said)}")
        return found


class Compiler(Protocol):
    """A target compiler: pure, and in no need of the device.

    A manifest names a callable without arguments that returns one (`compiler: "module:attribute"`).
    It raises ModuleNotFoundError where its library is missing. The same program and target give
    the same bytes.
    """

    @property
    def payload_format(self) -> str:
        """The format of what it makes; the registration must say the same."""
        ...

    @property
    def toolchain(self) -> str:
        """Its name and version, such as `jax 0.10.2`."""
        ...

    def compile(self, program: Program, target: Target) -> Mapping[str, bytes]:
        """The parts of the payload, by name."""
        ...


class Materializer(Protocol):
    """Turns a payload into an executable on a device; needs the device, and no compiler.

    A manifest names a callable without arguments that returns one.
    """

    @property
    def payload_format(self) -> str:
        """The format that it takes; the registration must say the same."""
        ...

    def accepts(self, toolchain: str) -> str | None:
        """None where it can load what this toolchain makes, else why it can't."""
        ...

    def materialize(self, payload: Payload, spec: DeviceSpec) -> Executable:
        """Load the payload on a device; the executable takes and gives arrays as any other."""
        ...
