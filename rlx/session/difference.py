"""What another configuration changes: each program's route under both, and why it differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx import settings
from rlx.errors import SettingError, UnknownBackend, UnknownDevice
from rlx.router.checks import coverage_reason
from rlx.router.dispatch import path_of
from rlx.session.causes import Cause, causes, claims_changed
from rlx.session.selection import settle

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rlx.origin import Origin
    from rlx.program import Program, Signature
    from rlx.registries import Registry
    from rlx.router import Fact, Route
    from rlx.session.selection import Answer
    from rlx.settings import Request
    from rlx.settings.asked import DeviceArgument, RequireArgument


@dataclass(frozen=True, slots=True)
class Moved:
    """One operation at one type whose place or path differs."""

    operation: str
    dtypes: str
    """The types of its type variables, as `float32` or `float32/int64`."""
    nodes: int
    old: tuple[str | None, str | None]
    """The backend, and the path on it (`native`, `lowered`); None: the program runs nowhere."""
    new: tuple[str | None, str | None]
    reason: str | None = None
    """Why this operation in particular; None: it goes where the program goes."""
    source: Origin | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One program's routes under both configurations."""

    program: Program
    old: Route
    new: Route
    causes: tuple[Cause, ...]
    """Empty where nothing changes."""
    operations: tuple[Moved, ...] = ()

    @property
    def changed(self) -> bool:
        """True when it runs elsewhere, in another way, or only under one of the two."""
        return bool(self.causes or self.operations)


@dataclass(frozen=True, slots=True)
class Difference:
    """What replacing the old registry by the new one does to the programs, in their order."""

    old: Registry
    new: Registry
    programs: tuple[Change, ...]

    @property
    def changed(self) -> tuple[Change, ...]:
        """The programs that change."""
        return tuple(one for one in self.programs if one.changed)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller asks for under both; an unset part leaves the choice to the manifests."""

    device: DeviceArgument = None
    backend: str | None = None
    require: RequireArgument = ()
    source: Origin | None = None


def difference(
    old: Registry,
    new: Registry,
    programs: Iterable[Program],
    asked: Asked,
    answer: Answer | None,
    facts: Mapping[tuple[str, int], Fact] | None = None,
) -> Difference:
    """Route every program under both registries; pure, but for what `answer` does.

    Scope and environment count for nothing: the same manifests have the same difference
    everywhere. `answer`, or else the probes, are asked for the facts that are not among `facts`.

    Raises:
        UnknownDevice, UnknownBackend, SettingError: what is asked for is in neither registry, or
            in one only, so that there is nothing to compare.
    """
    requests = request(old, asked), request(new, asked)
    made = []
    for program in programs:
        before, after = (
            settle(registry, program, one, known=facts, answer=answer)
            for registry, one in zip((old, new), requests, strict=True)
        )
        made.append(_change(program, before, after))
    return Difference(old, new, tuple(made))


def request(registry: Registry, asked: Asked) -> Request:
    """The request by arguments and by the registry's own routing."""
    try:
        return settings.make_request(
            registry,
            device=asked.device,
            backend=asked.backend,
            require=asked.require,
            scope=settings.NO_SCOPE,
            env=settings.Environment(),
            source=asked.source,
        )
    except (UnknownBackend, UnknownDevice, SettingError) as error:
        names = ", ".join(registry.sources[-1:])
        error.message = f"{error.message} (under {names})"
        raise


def _change(program: Program, old: Route, new: Route) -> Change:
    moved = tuple(_moved(program, old, new))
    return Change(program, old, new, causes(old, new, moved=bool(moved)), moved)


def _moved(program: Program, old: Route, new: Route) -> list[Moved]:
    """Each operation whose backend or path differs, in the program's order."""
    needs = program.requirements
    found: dict[Moved, int] = {}
    for place, signature in enumerate(needs.signatures):
        before, after = _place(old, signature), _place(new, signature)
        if before == after:
            continue
        number = needs.first_nodes[place]
        text, source = _reason(old, new, signature, number)
        dtypes = "/".join(dict.fromkeys(dtype for _, dtype in signature.types))
        key = Moved(signature.operation, dtypes, 0, before, after, text, source)
        found[key] = found.get(key, 0) + needs.counts[place]
    return [
        Moved(m.operation, m.dtypes, count, m.old, m.new, m.reason, m.source)
        for m, count in found.items()
    ]


def _place(route: Route, signature: Signature) -> tuple[str | None, str | None]:
    if route.backend is None:
        return None, None
    return route.backend, path_of(route.question, route.backend, signature)


def _reason(
    old: Route, new: Route, signature: Signature, number: int
) -> tuple[str | None, Origin | None]:
    """Why this operation moves, where its own claim is what has changed."""
    for backend in (old.backend, new.backend):
        if backend is None or not claims_changed(old, new, backend, signature):
            continue
        lost = path_of(new.question, backend, signature) == "missing"
        question = new.question if lost else old.question
        index = question.registry.coverage.facets.index[backend]
        reason = coverage_reason(question, index, signature, number)
        was = "" if lost else "claimed now, before: "
        return f"{was}{reason.detail}", reason.source
    return None, None
