"""Device and backend, which are one request: what each source asks for, and which exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.device import DeviceSpec
from rlx.errors import InvalidDevice, SettingError, UnknownBackend, UnknownDevice
from rlx.origin import Origin
from rlx.settings.asked import read_backend, read_devices
from rlx.settings.scope import ORIGIN as SCOPE_ORIGIN
from rlx.settings.variables import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.registries import Registry
    from rlx.settings.asked import DeviceArgument
    from rlx.settings.reading import Environment
    from rlx.settings.scope import Scope


@dataclass(frozen=True, slots=True)
class Placement:
    """Device and backend, which are one request: what one source asks for."""

    devices: tuple[DeviceSpec, ...]
    backend: str | None
    origin: Origin
    device_origin: Origin
    backend_origin: Origin


def placements(
    registry: Registry,
    device: DeviceArgument,
    backend: str | None,
    scope: Scope,
    env: Environment,
    source: Origin | None = None,
) -> Iterator[Placement]:
    """What each source asks for that asks for a device or a backend, the strongest first."""
    at, by = argument(source, "device"), argument(source, "backend")
    devices, name = read_devices(device), read_backend(backend, by)
    if devices or name:
        yield _placement(devices, name, at, by)
    if scope.devices or scope.backend:
        yield _placement(scope.devices, scope.backend, SCOPE_ORIGIN, SCOPE_ORIGIN)
    first, second = env.get("RLX_DEVICE"), env.get("RLX_BACKEND")
    if first or second:
        yield _placement(
            first.value if first else (),
            second.value if second else None,
            first.origin if first else Origin("RLX_DEVICE", layer="environment"),
            second.origin if second else Origin("RLX_BACKEND", layer="environment"),
        )
    first, second = registry.routing.device, registry.routing.backend
    if first or second:
        place = (first or second).origin  # type: ignore[union-attr]
        yield _placement(
            read_devices(first.value) if first else (),
            second.value.strip().lower() if second else None,
            first.origin if first else place,
            second.origin if second else place,
        )


def argument(source: Origin | None, name: str) -> Origin:
    """What messages call an argument."""
    return source or Origin(f"the {name} argument", layer="argument")


def _placement(
    devices: tuple[DeviceSpec, ...], backend: str | None, at: Origin, by: Origin
) -> Placement:
    if not devices or at == by:
        origin = by
    elif backend is None:
        origin = at
    else:
        origin = Origin(f"{at} and {by}", layer=at.layer)
    return Placement(devices, backend, origin, at, by)


def resolved(registry: Registry, place: Placement) -> tuple[DeviceSpec, ...]:
    """The specs with each alias replaced by its device's id."""
    specs: list[DeviceSpec] = []
    for asked in place.devices:
        try:
            spec = registry.resolve(asked)
        except UnknownDevice as error:
            if place.device_origin.layer != "environment":
                raise
            raise SettingError(error.message, fix=error.fix, origin=place.device_origin) from error
        if spec in specs:
            kind = SettingError if place.device_origin.layer == "environment" else InvalidDevice
            raise kind(
                f"the device list names {spec} twice: {asked} is the same",
                fix="name each device once.",
                origin=place.device_origin,
            )
        specs.append(spec)
    return tuple(specs)


def known_backend(registry: Registry, place: Placement) -> str | None:
    """The backend's id, which is registered."""
    name = place.backend
    if name is None or registry.get(name) is not None:
        return name
    kind = SettingError if place.backend_origin.layer == "environment" else UnknownBackend
    raise kind(
        f"no backend {name!r} is registered{inactive_plugins(registry)}",
        fix=suggestion(name, ids(registry)),
        origin=place.backend_origin,
    )


def inactive_plugins(registry: Registry) -> str:
    """The plugins that may have been meant to register what is missing, as the end of a message."""
    names = [str(one) for one in registry.plugins if not one.active]
    if not names:
        return ""
    verb = "is" if len(names) == 1 else "are"
    return f"; {', '.join(names)} {verb} installed, but not used: `rlx backends` says why"


def ids(registry: Registry) -> list[str]:
    """Every registered id, in order."""
    return [one.id for one in registry.registrations]
