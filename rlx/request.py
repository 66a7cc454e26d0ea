"""What the caller asks for: per setting, the strongest source wins as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.asked import read_backend, read_devices, read_require
from rlx.device import DeviceSpec
from rlx.environment import Environment, environment
from rlx.errors import InvalidDevice, SettingError, UnknownBackend, UnknownDevice
from rlx.origin import Origin
from rlx.scope import ORIGIN as SCOPE_ORIGIN
from rlx.scope import Scope, current_scope
from rlx.variables import (
    KERNEL_DISPATCH,
    PRECISION,
    PRECISION_POLICY,
    choice,
    suggestion,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rlx.asked import DeviceArgument, RequireArgument
    from rlx.registries import Registry


@dataclass(frozen=True, slots=True)
class Request:
    """What the caller asks for, after the strongest source has won.

    `devices` empty means any device; `source` says where devices or backend came from, None
    where neither was asked for. `disabled` are ids, device names or aliases that are masked.
    """

    devices: tuple[DeviceSpec, ...] = ()
    backend: str | None = None
    source: Origin | None = None
    disabled: tuple[str, ...] = ()
    precedence: tuple[str, ...] = ()
    """Ids that come before rank, in this order."""
    require: tuple[str, ...] = ()
    """Capabilities that the caller asks for."""
    kernel_dispatch: str = "prefer-native"
    precision: str | None = None
    precision_policy: str = "error"


@dataclass(frozen=True, slots=True)
class Placement:
    """Device and backend, which are one request: what one source asks for."""

    devices: tuple[DeviceSpec, ...]
    backend: str | None
    origin: Origin
    device_origin: Origin
    backend_origin: Origin


def make_request(
    registry: Registry,
    *,
    device: DeviceArgument = None,
    backend: str | None = None,
    require: RequireArgument = (),
    precision: str | None = None,
    precision_policy: str | None = None,
    kernel_dispatch: str | None = None,
    scope: Scope | None = None,
    env: Environment | None = None,
    source: Origin | None = None,
) -> Request:
    """What is asked for: per setting, the strongest source wins as a whole.

    From strong to weak: argument, scope, environment, the registry's `routing` (project, user,
    packaged). Device and backend are one setting. What is required adds up: it is a promise, and
    a stronger source can't take it back. `scope` and `env` are those captured earlier; None
    takes those of now. `source` is what messages call the arguments, such as `--device`.

    Raises:
        UnknownDevice, UnknownBackend, InvalidDevice: an argument or a scope names no such thing.
        SettingError: a variable does, or anything else has a wrong value.
    """
    scope = current_scope() if scope is None else scope
    env = environment() if env is None else env
    place = next(iter(placements(registry, device, backend, scope, env, source)), None)
    argument = _argument(source, "require")
    asked = (*read_require(require, argument), *scope.require)

    def strongest(name: str, given: object, in_scope: str | None, allowed: tuple[str, ...]) -> Any:
        if given is not None:
            return choice(given, allowed, _argument(source, name))
        return in_scope or env.value(f"RLX_{name.upper()}")

    routed = registry.routing.kernel_dispatch
    return Request(
        devices=() if place is None else _resolved(registry, place),
        backend=None if place is None else _known_backend(registry, place),
        source=None if place is None else place.origin,
        disabled=_known(env, "RLX_DISABLE", "backend or device", _maskable(registry)),
        precedence=_known(env, "RLX_PRECEDENCE", "backend", _ids(registry)),
        require=_capabilities(registry, asked, argument if require else SCOPE_ORIGIN),
        kernel_dispatch=strongest(
            "kernel_dispatch", kernel_dispatch, scope.kernel_dispatch, KERNEL_DISPATCH
        )
        or (routed.value if routed else "prefer-native"),
        precision=strongest("precision", precision, scope.precision, PRECISION),
        precision_policy=strongest(
            "precision_policy", precision_policy, scope.precision_policy, PRECISION_POLICY
        )
        or "error",
    )


def placements(
    registry: Registry,
    device: DeviceArgument,
    backend: str | None,
    scope: Scope,
    env: Environment,
    source: Origin | None = None,
) -> Iterable[Placement]:
    """What each source asks for that asks for a device or a backend, the strongest first."""
    at, by = _argument(source, "device"), _argument(source, "backend")
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


def _argument(source: Origin | None, name: str) -> Origin:
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


def _resolved(registry: Registry, place: Placement) -> tuple[DeviceSpec, ...]:
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


def _known_backend(registry: Registry, place: Placement) -> str | None:
    name = place.backend
    if name is None or registry.get(name) is not None:
        return name
    kind = SettingError if place.backend_origin.layer == "environment" else UnknownBackend
    raise kind(
        f"no backend {name!r} is registered",
        fix=suggestion(name, _ids(registry)),
        origin=place.backend_origin,
    )


def _ids(registry: Registry) -> list[str]:
    return [one.id for one in registry.registrations]


def _maskable(registry: Registry) -> list[str]:
    devices = (name for one in registry.devices for name in (one.id, *one.aliases))
    return list(dict.fromkeys((*_ids(registry), *devices)))


def _known(env: Environment, name: str, what: str, known: Sequence[str]) -> tuple[str, ...]:
    setting = env.get(name)
    if setting is None:
        return ()
    for one in setting.value:
        if one not in known:
            fix = suggestion(one, known)
            raise SettingError(f"no {what} is named {one!r}", fix=fix, origin=setting.origin)
    return tuple(setting.value)


def _capabilities(registry: Registry, asked: tuple[str, ...], origin: Origin) -> tuple[str, ...]:
    known = [one.id for one in registry.capabilities]
    for name in asked:
        if name not in known:
            raise SettingError(
                f"no capability is named {name!r}", fix=suggestion(name, known), origin=origin
            )
    return tuple(dict.fromkeys(asked))
