"""What a registry holds once every rule has passed: plain frozen records."""

from __future__ import annotations

from dataclasses import dataclass, field

from rlx.origin import Origin

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from rlx.device import Device
    from rlx.errors import Fault
    from rlx.manifest.plugins.finding import Plugin
    from rlx.operations import Vocabulary
    from rlx.registration import Registration, Setting


@dataclass(frozen=True, slots=True)
class Capability:
    """A named yes/no fact about a backend, as a manifest declares it."""

    id: str
    description: str
    origin: Origin = field(default=Origin(""), compare=False)


@dataclass(frozen=True, slots=True)
class Routing:
    """What the layers ask for where no argument, scope or variable asks; None: nothing."""

    kernel_dispatch: Setting | None = None
    device: Setting | None = None
    backend: Setting | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """The result of a freeze. Devices are in the order of their layers, registrations by rank."""

    registrations: tuple[Registration, ...] = ()
    devices: tuple[Device, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    routing: Routing = field(default_factory=Routing)
    places: tuple[tuple[str, Origin], ...] = ()
    """Where each device and alias was declared, by name."""
    vocabulary_digest: str = ""
    vocabulary: Vocabulary | None = None
    """None: the packaged one, which is read when it is first needed."""
    warnings: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    """Those installed, by name; one that has faults takes no part."""
    sources: tuple[str, ...] = ()
    """The files that were read, as messages show them, in layer order."""
    digest: str = ""
