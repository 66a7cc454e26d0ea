"""How far two names are apart, and which known name was probably meant."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 100


def distance(one: str, other: str, limit: int) -> int:
    """Edits (insert, delete, replace, swap neighbours) from one to the other; over `limit`: more.

    The optimal string alignment distance. Two names whose lengths differ by more than `limit`
    are not compared.
    """
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    above = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        row = [i]
        for j, right in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before, above = above, row
    return above[-1]


def nearest(name: str, known: Iterable[str], *, limit: int = 2) -> str | None:
    """The known name that is fewest edits away, at most `limit`; ties go to the first in order.

    A name of up to three characters may be one edit away only, so that `ab` does not suggest `xy`.
    """
    if len(name) > _LONGEST:
        return None
    lowered = name.lower()
    near = limit if len(name) > 3 else 1
    best: str | None = None
    for one in sorted(known):
        far = distance(lowered, one.lower(), near)
        if far <= near and (best is None or far < near):
            best = one
            near = far
    return best
