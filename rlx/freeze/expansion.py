"""What lowerings become all the way down: no circles, not too deep, not too many nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from rlx.operations.lowering.planning import DEEPEST

if TYPE_CHECKING:
    from rlx.freeze.faults import Faults
    from rlx.origin import Origin

MOST_NODES = 20_000
"""Nodes that one node may become: a few lines that double each other would be billions."""


@dataclass(slots=True)
class Calls:
    """What one lowering is made of: its nodes, and those among them that are lowered again."""

    nodes: int = 0
    """All of its nodes, those of graphs within included."""
    places: dict[str, Origin] = field(default_factory=dict)
    """Where each operation that has a lowering stands first."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many nodes of each of those there are."""


def check(calls: Mapping[str, Calls], faults: Faults) -> None:
    """Note each circle once, and each lowering that goes too deep or grows too large."""
    order, circles = _ordered({name: tuple(one.places) for name, one in calls.items()})
    for circle in circles:
        _note_circle(circle, calls, faults)
    within = {name for circle in circles for name in circle}
    depths: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for name in order:  # what it calls comes before it
        one = calls[name]
        inner = [other for other in one.places if other in depths]
        depths[name] = 1 + max((depths[other] for other in inner), default=0)
        sizes[name] = one.nodes + sum(one.counts[other] * (sizes[other] - 1) for other in inner)
        if name in within or not inner:
            continue
        if depths[name] > DEEPEST:
            worst = max(inner, key=depths.__getitem__)
            faults.add(
                "lowering",
                one.places[worst],
                f"{name} is lowered through {depths[name]} lowerings within each other, "
                f"there may be {DEEPEST}",
                "write it in operations of ONNX.",
            )
        elif sizes[name] > MOST_NODES:
            worst = max(inner, key=lambda other: one.counts[other] * sizes[other])
            faults.add(
                "lowering",
                one.places[worst],
                f"the lowering of {name} becomes more than {MOST_NODES} nodes, all the way down",
                "repeat with a Loop, or write it in fewer operations.",
            )
        else:
            continue
        depths[name] = sizes[name] = 1  # those that use it are not to blame again


def _ordered(graph: Mapping[str, tuple[str, ...]]) -> tuple[list[str], list[list[str]]]:
    """The names, each after those that it calls, and the circles that are met on the way."""
    order: list[str] = []
    circles: list[list[str]] = []
    done: set[str] = set()
    for start in sorted(graph):
        path: dict[str, Iterator[str]] = {}
        current: str | None = start if start not in done else None
        while current is not None:
            left = path.setdefault(current, iter(graph[current]))
            following = next(left, None)
            if following is None:
                order.append(current)
                done.add(current)
                del path[current]
                current = next(reversed(path), None)
            elif following in path:
                names = list(path)
                circles.append(names[names.index(following) :])
            elif following in graph and following not in done:
                current = following
    return order, circles


def _note_circle(circle: list[str], calls: Mapping[str, Calls], faults: Faults) -> None:
    """A circle, from its first name in order."""
    first = circle.index(min(circle))
    ordered = circle[first:] + circle[:first]
    path = [*ordered, ordered[0]]
    places = [calls[one].places[other] for one, other in pairwise(path)]
    named = path if len(path) <= 12 else [*path[:6], "…", *path[-6:]]
    others = [str(one) for one in places[1:12]] + ["…"] * (len(places) > 12)
    then = f"; the others at {', '.join(others)}" if len(places) > 1 else ""
    faults.add(
        "cyclic-lowering",
        places[0],
        f"operations are lowered in a circle: {' to '.join(named)}{then}",
        "write one of the lowerings in operations of ONNX.",
        *places[1:12],
    )
