"""Every setting with the value in force, its source, and what it overrode: `rlx env`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.origin import Origin
from rlx.settings.placement import placements
from rlx.settings.reading import Environment, environment
from rlx.settings.scope import ORIGIN as SCOPE_ORIGIN
from rlx.settings.scope import Scope, current_scope
from rlx.settings.variables import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.registries import Registry

_UNSET = "unset"
DEFAULT = Origin("default")
_SCOPED = {
    "RLX_PRECISION": "precision",
    "RLX_PRECISION_POLICY": "precision_policy",
    "RLX_KERNEL_DISPATCH": "kernel_dispatch",
}


@dataclass(frozen=True, slots=True)
class Effective:
    """One setting: what holds, where it was said, and what was said elsewhere and lost."""

    name: str
    """The variable that sets it."""
    value: str
    source: Origin
    losers: tuple[tuple[str, Origin], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The setting as plain data."""
        return {
            "name": self.name,
            "value": self.value,
            "source": str(self.source),
            "losers": [{"value": value, "source": str(origin)} for value, origin in self.losers],
        }


def effective(
    registry: Registry, *, scope: Scope | None = None, env: Environment | None = None
) -> tuple[Effective, ...]:
    """Every variable of the table, in its order, as it holds for a caller without arguments."""
    scope = current_scope() if scope is None else scope
    env = environment() if env is None else env
    rows = []
    for variable in VARIABLES:
        said = list(_said(registry, variable.name, scope, env))
        losers = tuple((value, origin) for value, origin in said[1:] if value != _UNSET)
        if not said or (said[0][0] == _UNSET and not losers):
            said = [(variable.default, DEFAULT)]
        rows.append(Effective(variable.name, *said[0], losers))
    return tuple(rows)


def _said(
    registry: Registry, name: str, scope: Scope, env: Environment
) -> Iterator[tuple[str, Origin]]:
    """What each source says of one setting, the strongest first."""
    if name in ("RLX_DEVICE", "RLX_BACKEND"):
        # One request: a source that names only the other one still replaces both.
        for place in placements(registry, None, None, scope, env):
            if name == "RLX_DEVICE":
                held, origin = ",".join(map(str, place.devices)), place.device_origin
            else:
                held, origin = place.backend or "", place.backend_origin
            yield (held, origin) if held else (_UNSET, place.origin)
        return
    scoped = getattr(scope, _SCOPED[name]) if name in _SCOPED else None
    if scoped is not None:
        yield scoped, SCOPE_ORIGIN
    setting = env.get(name)
    if setting is not None:
        yield _text(setting.value), setting.origin
    routed = registry.routing.kernel_dispatch
    if name == "RLX_KERNEL_DISPATCH" and routed is not None:
        yield routed.value, routed.origin


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return ",".join(value) if isinstance(value, tuple) else str(value)
