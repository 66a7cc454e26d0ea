"""What the caller asks for: per setting, the strongest source wins as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_
from typing import TYPE_CHECKING, Any

from rlx.device import DeviceSpec
from rlx.errors import SettingError
from rlx.operations.policies import DEFAULT, parse
from rlx.origin import Origin
from rlx.program.types import BARRIER
from rlx.settings.asked import read_require
from rlx.settings.placement import argument, ids, known_backend, placements, resolved
from rlx.settings.reading import Environment, environment, routing_stamp
from rlx.settings.scope import ORIGIN as SCOPE_ORIGIN
from rlx.settings.scope import Scope, current_scope, scope_stamp
from rlx.settings.variables import (
    PRECISION,
    PRECISION_POLICY,
    choice,
    dispatch,
    suggestion,
)
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.registries import Registry
    from rlx.settings.asked import DeviceArgument, RequireArgument


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
    kernel_dispatch: str = DEFAULT
    """A policy, and operations with one of their own: `prefer-native,Gelu=common`."""
    precision: str | None = None
    precision_policy: str = "error"


_NOTHING = (None, None, (), None, None, None, None, None, None)
_kept: tuple[Registry, tuple[object, ...], Request] | None = None
"""The last request without arguments, while registry, scope and environment stay the same."""


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
    global _kept
    given = (
        device,
        backend,
        require,
        precision,
        precision_policy,
        kernel_dispatch,
        scope,
        env,
        source,
    )
    key = None
    if all(map(is_, given, _NOTHING)):
        key = (scope_stamp(), routing_stamp())
        kept = _kept
        if kept is not None and kept[0] is registry and kept[1] == key:
            return kept[2]
    scope = current_scope() if scope is None else scope
    env = environment() if env is None else env
    place = next(iter(placements(registry, device, backend, scope, env, source)), None)

    def strongest(name: str, given: object, in_scope: str | None, allowed: tuple[str, ...]) -> Any:
        if given is not None:
            return choice(given, allowed, argument(source, name))
        return in_scope or env.value(f"RLX_{name.upper()}")

    request = Request(
        devices=() if place is None else resolved(registry, place),
        backend=None if place is None else known_backend(registry, place),
        source=None if place is None else place.origin,
        disabled=_known(env, "RLX_DISABLE", "backend or device", registry, _maskable),
        precedence=_known(env, "RLX_PRECEDENCE", "backend", registry, ids),
        require=_required(registry, require, argument(source, "require"), scope),
        kernel_dispatch=_dispatch(
            registry, kernel_dispatch, argument(source, "kernel_dispatch"), scope, env
        ),
        precision=strongest("precision", precision, scope.precision, PRECISION),
        precision_policy=strongest(
            "precision_policy", precision_policy, scope.precision_policy, PRECISION_POLICY
        )
        or "error",
    )
    if key is not None and key == (scope_stamp(), routing_stamp()):
        _kept = (registry, key, request)
    return request


def _dispatch(
    registry: Registry, given: str | None, origin: Origin, scope: Scope, env: Environment
) -> str:
    """The strongest source's policy, with the operations that it names known."""
    setting, routed = env.get("RLX_KERNEL_DISPATCH"), registry.routing.kernel_dispatch
    if given is not None:
        text = dispatch(given, origin)
    elif scope.kernel_dispatch is not None:
        text, origin = scope.kernel_dispatch, SCOPE_ORIGIN
    elif setting is not None:
        text, origin = setting.value, setting.origin
    else:
        return DEFAULT if routed is None else str(routed.value)
    for name, _ in parse(text).overrides if "=" in text else ():
        if registry.vocabulary.get(name) is None and name != BARRIER:
            raise SettingError(
                f"no operation is named {name!r}",
                fix=_spelt(name, registry),
                origin=origin,
            )
    return text


def _spelt(name: str, registry: Registry) -> str:
    near = nearest(name, registry.vocabulary.names)
    return f"did you mean {near}?" if near else "name an operation of configs/operations.yaml."


def _maskable(registry: Registry) -> list[str]:
    devices = (name for one in registry.devices for name in (one.id, *one.aliases))
    return list(dict.fromkeys((*ids(registry), *devices)))


def _known(
    env: Environment,
    name: str,
    what: str,
    registry: Registry,
    names: Callable[[Registry], list[str]],
) -> tuple[str, ...]:
    setting = env.get(name)
    if setting is None:
        return ()
    known = names(registry)
    for one in setting.value:
        if one not in known:
            fix = suggestion(one, known)
            raise SettingError(f"no {what} is named {one!r}", fix=fix, origin=setting.origin)
    return tuple(setting.value)


def _required(
    registry: Registry, require: RequireArgument, argument: Origin, scope: Scope
) -> tuple[str, ...]:
    given = read_require(require, argument)
    if not given and not scope.require:
        return ()
    known = [one.id for one in registry.capabilities]
    for names, origin in ((given, argument), (scope.require, SCOPE_ORIGIN)):
        for name in names:
            if name not in known:
                raise SettingError(
                    f"no capability is named {name!r}", fix=suggestion(name, known), origin=origin
                )
    return tuple(dict.fromkeys((*given, *scope.require)))
