"""Why a program's route differs between two registries: what was edited, with both places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.registration import LAST_RANK
from rlx.router.dispatch import path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.origin import Origin
    from rlx.program import Signature
    from rlx.registration import Registration, Setting
    from rlx.router import Candidate, Reason, Route

FIELDS = {
    "disabled": "enabled",
    "oracle": "reference_oracle",
    "emission-only": "dispatches",
    "software-device": "software",
}
"""Reasons that one field of the registration decides alone."""

AGAINST = {"enabled": False, "reference_oracle": True, "dispatches": False, "software": True}
"""The value of such a field that keeps programs away."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that was edited, and what it does."""

    code: str
    """`rank`, `registered`, `removed`, `request`, `opening`, `evidence`, or a reason's code."""
    backend: str | None
    """The backend that it is about; None: what is asked for."""
    detail: str
    source: Origin | None
    """The place in the new configuration; None: it is nowhere in it."""
    old_source: Origin | None = None
    """The place in the old one."""


def causes(old: Route, new: Route, *, moved: bool = False) -> tuple[Cause, ...]:
    """Why the two routes of one program differ; empty: they do not.

    `moved` tells that an operation takes another path, so that how paths are chosen matters.
    """
    found = [*_dispatch(old, new)] if moved else []
    if (old.backend, old.device) == (new.backend, new.device):
        return (*found, *_altered(old, new))
    found = [*_requests(old, new), *found]
    before, after = old.backend, new.backend
    if before is not None:
        found += _lost(before, old, new)
    if after is not None and not (before is not None and _rejected(before, after, new)):
        found += _won(before, after, old, new, bool(found))
    named = {(one.backend, one.code) for one in found}
    helped = _helped(before, after, old, new)
    found += [one for one in helped if (one.backend, one.code) not in named]
    return tuple(found)


def claims_changed(old: Route, new: Route, backend: str, signature: Signature) -> bool:
    """True when the backend is in both registries, and claims the operation in only one."""
    if any(route.question.registry.get(backend) is None for route in (old, new)):
        return False
    paths = {path_of(route.question, backend, signature) == "missing" for route in (old, new)}
    return len(paths) == 2


def _requests(old: Route, new: Route) -> Iterator[Cause]:
    """What the manifests' own routing asks for."""
    for name in ("devices", "backend"):
        was, now = getattr(old.request, name), getattr(new.request, name)
        if was != now:
            key = "device" if name == "devices" else name
            detail = f"routing.{key} {_value(was)} → {_value(now)}"
            yield Cause("request", None, detail, new.request.source, old.request.source)


def _dispatch(old: Route, new: Route) -> Iterator[Cause]:
    was, now = old.request.kernel_dispatch, new.request.kernel_dispatch
    if was != now:
        places = [route.question.registry.routing.kernel_dispatch for route in (old, new)]
        before, after = (None if one is None else one.origin for one in places)
        yield Cause("request", None, f"routing.kernel_dispatch {was} → {now}", after, before)


def _lost(backend: str, old: Route, new: Route) -> Iterator[Cause]:
    """What the new registry has against the old winner."""
    was, now = old.question.registry.get(backend), new.question.registry.get(backend)
    assert was is not None
    if now is None:
        yield Cause("removed", backend, f"{backend} is no longer registered", None, was.origin)
        return
    if new.backend is not None and not _rejected(backend, new.backend, new):
        return
    reason = _reason(new, backend)
    if reason is not None and reason.code != "not-requested":
        yield _about(reason, was, now)


def _won(
    before: str | None, after: str, old: Route, new: Route, explained: bool
) -> Iterator[Cause]:
    """What has put the new winner first."""
    was, now = old.question.registry.get(after), new.question.registry.get(after)
    assert now is not None
    if was is None:
        yield _registered(now)
        return
    reason = _reason(old, after)
    if reason is not None:
        if reason.code == "not-requested":
            return
        yield _about(reason, was, now, gone=True)
        return
    moved = [*_reranked(before, old, new), *_reranked(after, old, new)]
    yield from moved
    if not moved and not explained:
        yield Cause("rank", after, f"{after} now comes first", now.source("rank"))


def _reranked(backend: str | None, old: Route, new: Route) -> Iterator[Cause]:
    was = None if backend is None else old.question.registry.get(backend)
    now = None if backend is None else new.question.registry.get(backend)
    if was is not None and now is not None and was.rank != now.rank:
        detail = f"{backend}: rank {was.rank} → {now.rank}"
        detail += " (the default)" if now.rank == LAST_RANK and not now.settings("rank") else ""
        yield Cause("rank", backend, detail, now.source("rank"), was.source("rank"))


def _helped(before: str | None, after: str | None, old: Route, new: Route) -> Iterator[Cause]:
    """Every edit against the old winner or for the new one, also where another one hides it.

    Of two edits that each would do alone, undoing only one changes nothing: both are causes.
    """
    registries = old.question.registry, new.question.registry
    for backend, gains in ((before, False), (after, True)):
        was, now = (None if backend is None else one.get(backend) for one in registries)
        if now is None or backend is None:
            continue
        if was is None:
            if gains:
                yield _registered(now)
            continue
        for code, field in FIELDS.items():
            values = getattr(was, field), getattr(now, field)
            if values[0] != values[1] and (values[1] != AGAINST[field]) == gains:
                detail = f"{backend}: {field} {_value(values[0])} → {_value(values[1])}"
                yield Cause(code, backend, detail, now.source(field), was.source(field))
        if was.rank != now.rank and (now.rank < was.rank) == gains and _overtakes(was, now, new):
            yield from _reranked(backend, old, new)


def _registered(now: Registration) -> Cause:
    place = now.source("rank") if now.settings("rank") else now.origin
    return Cause("registered", now.id, f"{now.id} is registered, {_rank(now)}", place)


def _overtakes(was: Registration, now: Registration, route: Route) -> bool:
    """True when another backend of the new registry stands between the two ranks."""
    low, high = sorted(((was.rank, was.id), (now.rank, now.id)))
    others = route.question.registry.registrations
    return any(low < (one.rank, one.id) < high for one in others if one.id != now.id)


def _about(reason: Reason, was: Registration, now: Registration, *, gone: bool = False) -> Cause:
    """A reason that holds in only one registry, told by the field that was edited if one was."""
    field = FIELDS.get(reason.code)
    if field is not None and getattr(was, field) != getattr(now, field):
        detail = f"{field} {_value(getattr(was, field))} → {_value(getattr(now, field))}"
        place, old_place = now.source(field), was.source(field)
    elif gone:
        name = {"capability": "capabilities", "coverage": "coverage"}.get(reason.code, "probes")
        detail = f"fits now, and did not: {reason.detail}"
        place, old_place = now.source(name), reason.source or was.origin
    else:
        detail, place, old_place = reason.detail, reason.source or now.origin, was.origin
    return Cause(reason.code, now.id, f"{now.id}: {detail}", place, old_place)


def _altered(old: Route, new: Route) -> Iterator[Cause]:
    """What differs of the same winner: how it is opened, and why its claims are believed."""
    if old.backend is None:
        return
    was, now = (route.question.registry.get(old.backend) for route in (old, new))
    assert was is not None and now is not None  # noqa: PT018 - both routes have selected it
    before, after = dict(was.options), dict(now.options)
    pairs: list[tuple[str, Any, Any]] = [("factory", was.factory, now.factory)]
    pairs += [
        (f"options.{key}", before.get(key), after.get(key)) for key in sorted({*before, *after})
    ]
    for field, old_value, value in pairs:
        if old_value != value:
            detail = f"{now.id}: {field} {_value(old_value)} → {_value(value)}"
            yield Cause("opening", now.id, detail, _place(now, field), _place(was, field))
    kinds = [_evidence(one) for one in (was, now)]
    if kinds[0] != kinds[1]:
        detail = f"{now.id}: coverage {kinds[0]} → {kinds[1]}"
        yield Cause("evidence", now.id, detail, now.source("coverage"), was.source("coverage"))


def _place(one: Registration, field: str) -> Origin | None:
    """Where the value is written; None: nowhere, so that the default holds."""
    values: tuple[Setting, ...] = one.settings(field)
    return values[-1].origin if values else None


def _evidence(one: Registration) -> str:
    origin = f" from {one.coverage.inherited_from}" if one.coverage.inherited_from else ""
    return f"{one.coverage.evidence}{origin}"


def _rejected(backend: str, winner: str, route: Route) -> bool:
    """True when the backend comes before the winner, so that something is against it."""
    order = [one.backend for one in route.candidates]
    return backend in order and order.index(backend) < order.index(winner)


def _reason(route: Route, backend: str) -> Reason | None:
    found: Candidate | None = next((c for c in route.candidates if c.backend == backend), None)
    return found.reasons[0] if found is not None and found.reasons else None


def _rank(one: Registration) -> str:
    return f"rank {one.rank}" + ("" if one.settings("rank") else " (the default)")


def _value(value: Any) -> str:
    """A value as YAML would have it."""
    if value is None or value == ():
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
