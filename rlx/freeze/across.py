"""The rules between registrations: targets, inherited evidence, ranks."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rlx.errors import Fault
from rlx.freeze.faults import show
from rlx.freeze.nearest import later
from rlx.registration import LAST_RANK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rlx.freeze.draft import Draft
    from rlx.freeze.faults import Faults
    from rlx.registration import Registration

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
    for start in sorted(parents):
        path = [start]
        while path[-1] in parents and len(path) <= len(parents):
            path.append(parents[path[-1]])
            if path[-1] == start:
                break
        if len(path) > 1 and path[-1] == start and start == min(path):
            faults.add(
                "cyclic-evidence",
                drafts[start].place("coverage").at("evidence", "backend"),
                f"coverage is inherited in a circle: {' from '.join(path)}",
                "measure or declare the claims of one of them.",
            )


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
