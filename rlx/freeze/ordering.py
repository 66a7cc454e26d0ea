"""A rank that puts one backend directly before or after another, and what is in its way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.registration import LAST_RANK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.registration import Registration

STEP = 100
"""How far behind the last backend another one is put."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a backend would stand among the others."""

    rank: int | None
    """A rank that is free there; None: there is none."""
    before: Registration | None = None
    """The backend directly before it."""
    after: Registration | None = None
    """The backend directly after it."""
    moves: tuple[tuple[str, int], ...] = ()
    """Without a free rank: which backends to give which rank first, in this order."""


def stands(ordered: Sequence[Registration], backend: str, other: str, *, before: bool) -> bool:
    """True when the backend is directly before (or after) the other one already."""
    ids = [one.id for one in ordered]
    return ids.index(backend) - ids.index(other) == (-1 if before else 1)


def slot(ordered: Sequence[Registration], backend: str, other: str, *, before: bool) -> Slot:
    """The place directly before (or after) another backend, in the order in force.

    A free rank lies in the middle between its neighbours', so that there is room for more.
    """
    others = [one for one in ordered if one.id != backend]
    index = [one.id for one in others].index(other) + (0 if before else 1)
    below, above = others[:index], others[index:]
    first = below[-1] if below else None
    second = above[0] if above else None
    low = -1 if first is None else first.rank
    high = LAST_RANK + 1 if second is None else second.rank
    if high - low > 1:
        rank = (max(low, 0) + high) // 2 if second else min(low + STEP, LAST_RANK)
        return Slot(max(rank, low + 1), first, second)
    moves = _up(above, low + 2) if low + 2 <= LAST_RANK else None
    return Slot(None, first, second, moves or _down(below, high - 2) or ())


def _up(above: Sequence[Registration], least: int) -> tuple[tuple[str, int], ...] | None:
    """The backends behind that must have a higher rank, the last one first."""
    moves: list[tuple[str, int]] = []
    for one in above:
        if one.rank >= least:
            break
        moves.append((one.id, least))
        least += 1
    return None if least > LAST_RANK + 1 else tuple(reversed(moves))


def _down(below: Sequence[Registration], most: int) -> tuple[tuple[str, int], ...] | None:
    """The backends in front that must have a lower rank, the first one first."""
    moves: list[tuple[str, int]] = []
    for one in reversed(below):
        if one.rank <= most:
            break
        moves.append((one.id, most))
        most -= 1
    return None if most < -1 else tuple(reversed(moves))
