"""The registry: every registration in order, frozen; made from layers of manifests."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property

from rlx.device import Device, DeviceSpec, shown, unknown_device
from rlx.freeze.content import Capability, Content, Routing
from rlx.registration import LAST_RANK, Registration

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from rlx.coverage import CoverageTable
    from rlx.errors import Fault
    from rlx.manifest.loader import Manifest
    from rlx.manifest.plugins.finding import Plugin
    from rlx.operations import Vocabulary


@dataclass(frozen=True, eq=False)
class Registry:
    """All registrations, in (rank, id) order; nothing of it changes.

    Two registries are equal when they are the same object; their `digest` tells whether they hold
    the same. The tables that lookups use (`coverage`, `vocabulary` and the private ones) are
    filled when they are first read, from the frozen content.
    """

    content: Content = field(repr=False)

    @classmethod
    def load(
        cls,
        paths: Iterable[str | os.PathLike[str]] = (),
        *,
        only: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        environment: str | os.PathLike[str] | None = None,
        plugins: bool | None = None,
    ) -> Registry:
        """The packaged layer; above it plugins, system, user, project, `environment`, `paths`.

        With `only`, plugins (unless `plugins` is True), system, user and project are left out. A
        plugin that is broken takes no part: `plugins` of the registry says why. `cwd` is where the
        search for the project's file begins, by default the working directory; `environment` is
        the path that RLX_CONFIG holds, for whoever reads it.

        Raises:
            ConfigError: a file is broken; it holds every fault.
        """
        from rlx.freeze.loading import load

        if isinstance(paths, str | bytes) or hasattr(paths, "__fspath__"):
            raise TypeError(f"paths must be a list of paths, got {shown(paths)}")
        asked = not only if plugins is None else plugins
        return cls(load(tuple(paths), only, cwd, environment, asked))

    @property
    def registrations(self) -> tuple[Registration, ...]:
        """Every registration in (rank, id) order, disabled ones too."""
        return self.content.registrations

    @property
    def devices(self) -> tuple[Device, ...]:
        """Every declared device, in layer order."""
        return self.content.devices

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """Every declared capability, in layer order."""
        return self.content.capabilities

    @property
    def routing(self) -> Routing:
        """What the layers ask for where no argument, scope or variable asks."""
        return self.content.routing

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """What is legal but probably not meant: equal ranks; and what is wrong with plugins."""
        if not self.content.plugins:
            return self.content.warnings
        broken = (fault for one in self.content.plugins for fault in one.faults)
        return (
            *(dataclasses.replace(fault, severity="warning") for fault in broken),
            *self.content.warnings,
        )

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plugins that are installed, by name; what a broken one ships takes no part."""
        return self.content.plugins

    @property
    def notes(self) -> tuple[str, ...]:
        """What loading left out, and why."""
        return self.content.notes

    @property
    def sources(self) -> tuple[str, ...]:
        """The files that were read, as messages show them, in layer order."""
        return self.content.sources

    @property
    def digest(self) -> str:
        """SHA-256 of all that matters; the same for any file order, hash seed and machine."""
        return self.content.digest

    @cached_property
    def coverage(self) -> CoverageTable:
        """Who claims what; bit i of its masks is `registrations[i]`."""
        from rlx.coverage import CoverageTable

        return CoverageTable(self.registrations)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The operations of all layers."""
        if self.content.vocabulary is not None:
            return self.content.vocabulary
        from rlx.freeze.vocabulary import packaged_vocabulary

        return packaged_vocabulary()

    @cached_property
    def _by_id(self) -> dict[str, Registration]:
        return {one.id: one for one in self.registrations}

    @cached_property
    def _by_device(self) -> dict[str, Device]:
        aliases = {alias: one for one in self.devices for alias in one.aliases}
        return {**aliases, **{one.id: one for one in self.devices}}

    @cached_property
    def _registered_devices(self) -> tuple[str, ...]:
        return tuple(sorted({one.device for one in self.registrations if one.enabled}))

    def get(self, backend: str) -> Registration | None:
        """The registration of this id, in any case; None: there is none."""
        return self._by_id.get(backend) or self._by_id.get(_text(backend).strip().lower())

    def rank(self, backend: str) -> int:
        """The backend's rank; the last one for an unknown id."""
        found = self.get(backend)
        return LAST_RANK if found is None else found.rank

    def dispatches(self, backend: str) -> bool:
        """True when the backend runs programs; False for an unknown id."""
        found = self.get(backend)
        return found is not None and found.dispatches

    def device(self, name: str) -> Device:
        """The device of this id or alias, in any case.

        Raises:
            UnknownDevice: no device has the name; the message lists those there are.
        """
        found = self._by_device.get(name) or self._by_device.get(_text(name).strip().lower())
        if found is not None:
            return found
        raise unknown_device(name, self.devices, self._by_id)

    def resolve(self, spec: DeviceSpec | str) -> DeviceSpec:
        """The spec with the device's id in place of an alias.

        Raises:
            InvalidDevice: text that is not a device spec.
            UnknownDevice: no device has the name.
        """
        parsed = spec if isinstance(spec, DeviceSpec) else DeviceSpec.parse(spec)
        device = self.device(parsed.name)
        return parsed if device.id == parsed.name else dataclasses.replace(parsed, name=device.id)

    def registered_devices(self) -> tuple[str, ...]:
        """The ids of the devices that an enabled registration is for, sorted."""
        return self._registered_devices

    def with_backend(self, registration: Registration, *, replace: bool = False) -> Registry:
        """A new registry that also has this registration; this one stays as it is.

        Raises:
            DuplicateBackend: the id is taken, and `replace` is False.
            ConfigError: the registration breaks a rule; it holds every fault.
        """
        from rlx.freeze.late import with_registration

        if not isinstance(registration, Registration):
            raise TypeError(f"a backend is registered by a Registration, got {shown(registration)}")
        content = with_registration(self.content, registration, replace, lambda: self.vocabulary)
        return Registry(content)


def checked(registry: Registry) -> Registry:
    """What a caller passes for a registry, once it is one.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(registry, Registry):
        raise TypeError(f"registry must be a Registry, got {shown(registry)}")
    return registry


def _text(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a name must be text, got {shown(name)}")
    return name


def freeze(manifests: Iterable[Manifest], *, base: Registry | None = None) -> Registry:
    """The registry that the manifests add up to, in layer order, above `base`.

    Raises:
        ConfigError: some rule is broken; it holds every fault of every file.
    """
    from rlx.freeze.merge import merge

    return Registry(merge(manifests, None if base is None else base.content))


__all__ = ["Capability", "Registry", "Routing", "checked", "freeze"]
