"""`rlx.route`: where a program would run, by the scope and the environment of this moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx import probe as probes
from rlx import settings
from rlx.device import shown
from rlx.origin import Origin
from rlx.program.types import Requirements
from rlx.registries import checked
from rlx.router import Fact, Route
from rlx.session import logs
from rlx.session.default import default_registry
from rlx.session.selection import settle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.program import Program
    from rlx.registration import Registration
    from rlx.registries import Registry
    from rlx.settings.asked import DeviceArgument, RequireArgument

NOT_GIVEN = Fact("nothing is known of it: the facts that were given do not name it")
UNPROBED = Fact(detail="not probed")
_KEPT = 64
"""Routes that a program keeps at most."""
_Kept = tuple[Route, int, tuple[str, ...], tuple[str | None, ...]]
"""A route, the generation of its facts, and the device masks that they rest on, with values."""


def route(
    program: Any,
    device: DeviceArgument = None,
    backend: str | None = None,
    *,
    require: RequireArgument = (),
    precision: str | None = None,
    precision_policy: str | None = None,
    registry: Registry | None = None,
    evaluate_all: bool = False,
    facts: Mapping[tuple[str, int], Fact] | None = None,
    probe: bool = True,
    source: Origin | None = None,
) -> Route:
    """Where a program would run, and why; nothing is opened.

    The route says so when nothing fits: its `backend` is None, and `error()` has the reasons.
    Scope and environment are read at each call. `program` is what `rlx.load` takes; `precision`
    and `precision_policy` are those of `Session`. With `evaluate_all`, every check of every
    backend is evaluated. `facts`, by backend id and index, take the place of probes; without
    `probe`, none runs and every backend counts as available. `source` is what messages call the
    arguments.

    Raises:
        UnknownDevice, InvalidDevice, UnknownBackend: there is no such thing.
        SettingError: an argument or a variable has a value that is not allowed.
        ConfigError: the default registry can't be loaded.
        ProgramError: the program can't be read.
    """
    used = default_registry() if registry is None else registry
    key = None
    if probe and facts is None and not evaluate_all and source is None:
        key = (id(used), settings.stamp(), device, backend, require, precision, precision_policy)
        try:
            kept = program.routes.get(key)
        except AttributeError:  # not loaded yet
            key, kept = None, None
        except TypeError:  # a list of devices or of requirements: not kept
            key, kept = None, None
        if kept is not None and _holds(kept):
            route: Route = kept[0]
            return route
    asked: dict[str, Any] = {
        "device": device,
        "backend": backend,
        "require": require,
        "precision": precision,
        "precision_policy": precision_policy,
    }
    return _decide(program, used, key, asked, source, evaluate_all, facts, probe)


def _holds(kept: _Kept) -> bool:
    """True while nothing that the facts rest on has changed."""
    return kept[1] == probes.generation() and (not kept[2] or kept[3] == probes.values(kept[2]))


def _decide(
    program: Any,
    registry: Registry,
    key: tuple[Any, ...] | None,
    asked: dict[str, Any],
    source: Origin | None,
    evaluate_all: bool,
    facts: Mapping[tuple[str, int], Fact] | None,
    probe: bool,
) -> Route:
    checked(registry)
    if source is not None and not isinstance(source, Origin):
        raise TypeError(f"source must be an Origin, got {shown(source)}")
    environment = settings.environment()
    logs.apply(environment)
    generation = probes.generation()
    masks = sorted({name for device in registry.devices for name in device.masks})
    hidden = dict(zip(masks, probes.values(masks), strict=True))
    request = settings.make_request(registry, **asked, env=environment, source=source)
    loaded = as_program(program)
    if facts is not None or not probe:
        _check_facts(facts)
        unknown = UNPROBED if facts is None else NOT_GIVEN

        def answer(one: Registration, index: int) -> Fact:  # noqa: ARG001 - a selector's question
            return unknown

        return settle(
            registry, loaded, request, known=facts, answer=answer, evaluate_all=evaluate_all
        )
    found = settle(registry, loaded, request, evaluate_all=evaluate_all)
    if key is not None and loaded is program and not is_passing(found):
        if len(loaded.routes) >= _KEPT:
            loaded.routes.clear()
        # The route holds its registry, so the registry's id stays its own.
        rests_on = found.question.facts.values()
        names = tuple(sorted({name for fact in rests_on for name in fact.masks}))
        loaded.routes[key] = (found, generation, names, tuple(hidden[name] for name in names))
    return found


def _check_facts(facts: object) -> None:
    """Refuse facts of another form: they would be of no backend, and pass unnoticed."""
    if facts is not None and not (
        hasattr(facts, "items")
        and all(
            isinstance(key, tuple) and len(key) == 2 and isinstance(fact, Fact)
            for key, fact in facts.items()
        )
    ):
        raise TypeError(f"facts must map (backend id, device index) to Fact, got {shown(facts)}")


def as_program(source: Any) -> Program:
    """The program itself, a graph's, or the one that `rlx.load` makes of a path or a model."""
    if isinstance(getattr(source, "requirements", None), Requirements):
        return source  # type: ignore[no-any-return]  # a Program; its module is not imported here
    if hasattr(source, "to_program"):
        made: Program = source.to_program()
        return made
    from rlx.program import load

    return load(source)


def is_passing(route: Route) -> bool:
    """True when the route rests on a fact that may pass by itself, so that it must not be kept."""
    return any(fact.transient for fact in route.question.facts.values())
