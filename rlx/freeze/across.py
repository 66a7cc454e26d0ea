"""The rules between registrations: targets, inherited evidence, ranks."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rlx.errors import Fault
from rlx.freeze.faults import show
from rlx.freeze.nearest import later
from rlx.registration import LAST_RANK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rlx.freeze.draft import Draft
    from rlx.freeze.faults import Faults
    from rlx.registration import Registration

SHOWN = 20
"""Names of a circle that are shown."""
LAYERS = ("", "packaged", "plugin", "system", "user", "project", "environment", "argument", "code")
"""A warning points at the latest of these: what the reader has most likely just written."""


def check(drafts: Mapping[str, Draft], faults: Faults) -> None:
    """Every rule that takes several registrations to break."""
    _targets(drafts, faults)
    _inherited(drafts, faults)


def _targets(drafts: Mapping[str, Draft], faults: Faults) -> None:
    first: dict[str, Draft] = {}
    for draft in drafts.values():
        one = draft.registration
        earlier = first.setdefault(one.target, draft)
        if earlier is draft:
            continue
        origin, other = draft.place("target").at(), earlier.place("target").at()
        faults.add(
            "duplicate-target",
            origin,
            f"target {show(one.target)} of {one.id} is already provided by "
            f"{earlier.registration.id}, at {other}",
            f"give {one.id} a target of its own.",
            other,
        )


def _inherited(drafts: Mapping[str, Draft], faults: Faults) -> None:
    parents: dict[str, str] = {}
    for draft in drafts.values():
        one = draft.registration
        for field in ("coverage", "compiles"):
            coverage = getattr(one, field)
            parent = None if coverage is None else coverage.inherited_from
            if parent is None:
                continue
            if parent not in drafts:
                faults.add(
                    "unknown-backend",
                    draft.place(field).at("evidence", "backend"),
                    f"coverage of {one.id} is inherited from unknown backend {show(parent)}",
                    later(parent, drafts, "name a registered backend."),
                )
            elif field == "coverage":
                parents[one.id] = parent
    for circle in _circles(parents):
        start = circle[0]
        path = [*circle[:SHOWN], f"{len(circle) - SHOWN} more"] if len(circle) > SHOWN else circle
        faults.add(
            "cyclic-evidence",
            drafts[start].place("coverage").at("evidence", "backend"),
            f"coverage is inherited in a circle: {' from '.join([*path, start])}",
            "measure or declare the claims of one of them.",
        )


def _circles(parents: Mapping[str, str]) -> Iterator[list[str]]:
    """Each circle once, from its first name in order; every name is visited once."""
    visited: set[str] = set()
    for start in sorted(parents):
        path: dict[str, None] = {}
        name = start
        while name in parents and name not in visited:
            visited.add(name)
            path[name] = None
            name = parents[name]
        if name in path:
            circle = list(path)[list(path).index(name) :]
            first = circle.index(min(circle))
            yield circle[first:] + circle[:first]


def equal_ranks(registrations: Iterable[Registration]) -> tuple[Fault, ...]:
    """A warning for each rank that several enabled backends have; they are in rank order."""
    warnings = []
    enabled = (one for one in registrations if one.enabled)
    for rank, group in groupby(enabled, key=lambda one: one.rank):
        same = list(group)
        if len(same) == 1:
            continue
        places = [one.source("rank") for one in same]
        last = max(range(len(same)), key=lambda i: (LAYERS.index(places[i].layer), i))
        written = [f"{one.id} ({place})" for one, place in zip(same, places, strict=True)]
        absent = " (none is written)" if rank == LAST_RANK else ""
        warnings.append(
            Fault(
                "equal-ranks",
                f"rank {rank}{absent} is shared by {', '.join(written)}, tried in this order",
                "give each a rank of its own.",
                places[last],
                tuple(place for i, place in enumerate(places) if i != last),
                "warning",
            )
        )
    return tuple(warnings)
