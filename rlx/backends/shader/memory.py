"""Where intermediate arrays go: a few arenas, whose places are used again after the last read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Life:
    """An array: its bytes, and the steps at which it is made and read for the last time."""

    size: int
    made: int
    last: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where an array is: the arena, and the byte that it begins at."""

    arena: int
    offset: int


def laid_out(lives: Sequence[Life], alignment: int, largest: int) -> tuple[list[Place], list[int]]:
    """A place for each array, such that arrays that live at once do not meet; the arenas' sizes.

    The largest arrays choose first, each the lowest free place. No arena is over `largest` bytes.
    """
    order = sorted(range(len(lives)), key=lambda n: (-lives[n].size, lives[n].made))
    chosen: dict[int, Place] = {}
    sizes: list[int] = []
    for number in order:
        life = lives[number]
        size = -(-life.size // alignment) * alignment
        for arena in range(len(sizes) + 1):
            taken = sorted(
                (chosen[other].offset, chosen[other].offset + lives[other].size)
                for other in chosen
                if chosen[other].arena == arena and _meet(life, lives[other])
            )
            offset = _gap(taken, size, alignment)
            if offset + size <= largest or not taken:
                break
        chosen[number] = Place(arena, offset)
        if arena == len(sizes):
            sizes.append(0)
        sizes[arena] = max(sizes[arena], offset + size)
    return [chosen[number] for number in range(len(lives))], sizes


def _meet(one: Life, other: Life) -> bool:
    return one.made <= other.last and other.made <= one.last


def _gap(taken: Sequence[tuple[int, int]], size: int, alignment: int) -> int:
    """The lowest place of so many bytes between the spans that are taken."""
    at = 0
    for begin, end in taken:
        if begin - at >= size:
            return at
        at = max(at, -(-end // alignment) * alignment)
    return at
