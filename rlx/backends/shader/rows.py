"""Rows: a workgroup computes a row's sums one after the other, then its elements."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from rlx.backends.shader.builder import Builder, truth, u32
from rlx.backends.shader.emission import Emission, Index
from rlx.backends.shader.grids import grid_of, group_number
from rlx.backends.shader.ir import LOCAL
from rlx.backends.shader.reductions import combined, finished, halved, neutral, parts_at
from rlx.backends.shader.results import Written, stored, stored_four
from rlx.backends.shader.values import Value, converted

if TYPE_CHECKING:
    from rlx.backends.shader.ir import Atom, Shared
    from rlx.backends.shader.regions import Row
    from rlx.backends.shader.tensor import Tensor

HELD = 8
"""How many fours of a row an invocation keeps in registers, at most."""


def write(emission: Emission, row: Row, threads: int) -> Written:
    """The kernel of a row."""
    size = _fitting(row, threads)
    return _kept(emission, row, size) if size else _looped(emission, row, threads)


def _fitting(row: Row, threads: int) -> int:
    """How many invocations keep a row in their registers, by fours; 0 where it does not divide."""
    size = 32
    while row.length % (size * 8) == 0 and size * 2 <= min(threads, 256):
        size *= 2
    fits = size <= threads and row.length % (size * 4) == 0
    return size if fits and row.length <= size * 4 * HELD else 0


def _placed(b: Builder, row: Row) -> tuple[Atom, Atom, tuple[int, int, int]]:
    """The number of the workgroup's row, whether there is one, and the grid."""
    count = prod(row.shape[: row.split])
    grid = grid_of(count)
    number = group_number(b, grid)
    if grid[1] == 1:
        return number, truth(True), grid
    return b.op("min", "u32", number, u32(count - 1)), b.op("lt", "bool", number, u32(count)), grid


def _element(emission: Emission, one: Tensor, at: Atom) -> Value:
    """An element of what a sum is of."""
    source = one.args[0]
    value = emission.at(source, Index(source.shape, flat=at))
    if source.dtype.kind in ("float", "bool"):
        return value
    return converted(emission.b, value, source.register, one.register)


def _kept(emission: Emission, row: Row, size: int) -> Written:
    """Without loops: what is read or computed once has a name, and is in registers."""
    b, root = emission.b, row.root
    place, inside, grid = _placed(b, row)
    base = b.mul(place, row.length // 4)
    quarters = [
        b.add(base, b.add(LOCAL, u32(turn * size))) for turn in range(row.length // (size * 4))
    ]
    shared: tuple[Shared, ...] = ()
    for turn, one in enumerate(row.sums):
        total: Value = ()
        for quarter in quarters:
            for lane in range(4):
                value = _element(emission, one, emission.one_of(quarter, lane))
                total = combined(b, one, total, value) if total else value
        shared += _shared_out(emission, one, total, size, turn)
    fours = root.dtype.words == 1 and not _is_one(row)
    with b.when(inside):
        if _is_one(row):
            _store_one(emission, root, place)
        for quarter in () if _is_one(row) else quarters:
            if fours:
                stored_four(emission, root, quarter)
                continue
            for lane in range(4):
                at = emission.one_of(quarter, lane)
                stored(b, root, at, emission.at(root, Index(root.shape, flat=at)))
    return Written(shared, grid, size, fours)


def _looped(emission: Emission, row: Row, threads: int) -> Written:
    """By loops over the row, which is read again for each sum."""
    b, root = emission.b, row.root
    size = min(threads, 256, 1 << max((row.length - 1).bit_length() - 1, 0))
    place, inside, grid = _placed(b, row)
    base = b.mul(place, row.length)
    shared: tuple[Shared, ...] = ()
    for turn, one in enumerate(row.sums):
        total = [b.var(word) for word in neutral(one)]
        with b.loop(LOCAL, u32(row.length), size) as term:
            value = _element(emission, one, b.add(base, term))
            now = tuple(b.read(var) for var in total)
            for var, word in zip(total, combined(b, one, now, value), strict=True):
                b.assign(var, word)
        shared += _shared_out(emission, one, tuple(b.read(var) for var in total), size, turn)
    with b.when(inside):
        if _is_one(row):
            _store_one(emission, root, place)
        else:
            with b.loop(LOCAL, u32(row.length), size) as term:
                at = b.add(base, term)
                stored(b, root, at, emission.at(root, Index(root.shape, flat=at)))
    return Written(shared, grid, size)


def _is_one(row: Row) -> bool:
    """Whether one element is made of each row."""
    return row.root.size == prod(row.shape[: row.split])


def _store_one(emission: Emission, root: Tensor, place: Atom) -> None:
    b = emission.b
    with b.when(b.op("eq", "bool", LOCAL, u32(0))):
        stored(b, root, place, emission.at(root, Index(root.shape, flat=place)))


def _shared_out(
    emission: Emission, one: Tensor, total: Value, size: int, turn: int
) -> tuple[Shared, ...]:
    """A sum of all invocations' parts, known to all of them; the memory that takes."""
    shared = halved(emission, one, total, size, f"part{turn}_")
    value = parts_at(emission.b, one, shared, u32(0))
    emission.fixed[one.serial] = finished(emission.b, one, value)
    return shared
