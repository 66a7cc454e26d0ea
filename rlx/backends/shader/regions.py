"""Parts of a program that one kernel computes although sums are in them.

A row: elements and sums over the last axes of one shape, such as a softmax or a normalisation; a
workgroup computes a row at a time. A tail: functions of the elements of a sum or product, applied
before it is written.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.backends.shader.tensor import Shape, Tensor

SHORTEST, LONGEST = 32, 1 << 16
"""How many elements a row has that is worth a workgroup, and that one can serve."""
MOST = 48
"""How many arrays a tail may pass through."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a row's kernel makes, the sums on the way in order, and the shape that they reduce."""

    root: Tensor
    sums: tuple[Tensor, ...]
    members: frozenset[int]
    shape: Shape
    split: int
    """The first of the axes that make up a row."""

    @property
    def length(self) -> int:
        """How many elements a row has."""
        return prod(self.shape[self.split :])


@dataclass(frozen=True, slots=True)
class Tail:
    """A sum or product, and what is made of its elements before they are written."""

    core: Tensor
    root: Tensor
    members: frozenset[int]


Readers = Mapping[int, Sequence["Tensor"]]


def find_rows(order: Sequence[Tensor], readers: Readers, wanted: set[int]) -> list[Row]:
    """The rows of a program, none of which shares an array with another."""
    position = {one.serial: at for at, one in enumerate(order)}
    claimed: set[int] = set()
    found = []
    for root in reversed(order):
        if root.op != "map" or root.serial in claimed:
            continue
        row = _row_at(root, position, readers, wanted, claimed)
        if row is not None:
            claimed |= row.members
            found.append(row)
    return found


def _first_sum(root: Tensor) -> Tensor | None:
    """A sum a few steps below, whose shape may be a row's."""
    level = [root]
    for _ in range(8):
        below: list[Tensor] = []
        for one in level:
            for arg in one.args:
                if arg.op == "reduce":
                    return arg
                if arg.op in ("map", "expand"):
                    below.append(arg)
        level = below[:16]
    return None


def _row_at(
    root: Tensor,
    position: Mapping[int, int],
    readers: Readers,
    wanted: set[int],
    claimed: set[int],
) -> Row | None:
    first = _first_sum(root)
    if first is None or first.storage is not None:
        return None
    full, axes = first.args[0].shape, first.params[1]
    split = min(axes)
    row = (*full[:split], *(1 for _ in full[split:]))
    trailing = [axis for axis in range(split, len(full)) if full[axis] > 1]
    if not set(trailing) <= set(axes) or not SHORTEST <= prod(full[split:]) <= LONGEST:
        return None
    if root.shape not in (full, row):
        return None
    members: set[int] = set()
    sums: list[Tensor] = []
    heap = [(-position[root.serial], root.serial, root)]
    seen = {root.serial}
    while heap:
        one = heapq.heappop(heap)[2]
        inner = one is root or (
            one.serial not in wanted
            and one.storage is None
            and not one.cut
            and all(reader.serial in members for reader in readers.get(one.serial, ()))
        )
        if not inner or one.serial in claimed or not _belongs(one, full, row, axes):
            continue
        members.add(one.serial)
        if one.op == "reduce":
            sums.append(one)
        for arg in one.args:
            if arg.serial not in seen:
                seen.add(arg.serial)
                heapq.heappush(heap, (-position[arg.serial], arg.serial, arg))
    if not sums or (root.shape == row and len(sums) == 1):
        return None
    return Row(root, tuple(reversed(sums)), frozenset(members), full, split)


def _belongs(one: Tensor, full: Shape, row: Shape, axes: Shape) -> bool:
    if one.op == "map":
        return one.shape in (full, row)
    if one.op == "expand":
        return one.shape == full and one.args[0].shape == row
    return one.op == "reduce" and one.params[1] == axes and one.args[0].shape == full


def find_tails(
    order: Sequence[Tensor], readers: Readers, wanted: set[int], claimed: set[int]
) -> list[Tail]:
    """What follows each sum or product that no row holds, as far as nobody else reads it."""
    position = {one.serial: at for at, one in enumerate(order)}
    taken = set(claimed)
    found = []
    for core in order:
        if core.op not in ("reduce", "matmul") or core.serial in taken or core.storage is not None:
            continue
        tail = _tail_of(core, position, readers, wanted, taken)
        if tail is not None:
            taken |= tail.members
            found.append(tail)
    return found


def _tail_of(
    core: Tensor,
    position: Mapping[int, int],
    readers: Readers,
    wanted: set[int],
    taken: set[int],
) -> Tail | None:
    members = {core.serial}
    best: tuple[Tensor, frozenset[int]] | None = None
    heap: list[tuple[int, int, Tensor]] = []
    queued: set[int] = set()

    def follow(one: Tensor) -> None:
        for reader in readers.get(one.serial, ()):
            if reader.serial not in queued:
                queued.add(reader.serial)
                heapq.heappush(heap, (position[reader.serial], reader.serial, reader))

    if core.serial in wanted or core.cut:
        return None
    follow(core)
    while heap and len(members) < MOST:
        one = heapq.heappop(heap)[2]
        fits = one.op in ("map", "reshape") and one.size == core.size and not one.cut
        if not fits or one.serial in taken:
            break
        members.add(one.serial)
        if not heap:  # all that was read so far ends in this one
            best = one, frozenset(members)
        if one.serial in wanted:
            break
        follow(one)
    if best is None:
        return None
    root, kept = best
    while root.op == "reshape":  # which is no work of its own
        kept -= {root.serial}
        root = next(arg for arg in root.args)
    return Tail(core, root, kept) if root is not core else None
