"""Products by tiles in the workgroup's memory, with a block of named sums in each invocation.

The loops over a block are unrolled here: sums in an array that is indexed stay out of registers,
and reach a twentieth of the speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from rlx.backends.shader.builder import Builder, f32, truth, u32
from rlx.backends.shader.emission import Index
from rlx.backends.shader.ir import GROUP, LOCAL, Shared
from rlx.backends.shader.results import Written, ended, stored_four

if TYPE_CHECKING:
    from rlx.backends.shader.emission import Emission
    from rlx.backends.shader.ir import Atom, Ref
    from rlx.backends.shader.tensor import Tensor

Axes = tuple[tuple["Atom", int, int], ...]
"""A place along each axis, the axis' size, and the tile's."""


@dataclass(frozen=True, slots=True)
class Tiling:
    """A workgroup's tile, how deep its steps are, and an invocation's block of it.

    Blocks are made of groups of `group` neighbours, 4 or 1, which one instruction reads. `spare`
    elements follow each line of the left tile, so that lines begin in other banks of memory.
    With `ahead`, the next tiles are read from memory before the sums of these are made.
    """

    rows: int
    columns: int
    depth: int
    block_rows: int
    block_columns: int
    group: int = 1
    spare: int = 0
    ahead: bool = False

    @property
    def threads(self) -> int:
        """How many invocations share a tile."""
        return (self.rows // self.block_rows) * (self.columns // self.block_columns)

    @property
    def line(self) -> int:
        """How many elements apart the lines of the left tile are."""
        return self.rows + self.spare

    def places(self, size: int, block: int) -> list[int]:
        """Where the elements of a block are in its line, from the block's first on."""
        apart = size // block * self.group
        return [n // self.group * apart + n % self.group for n in range(block)]


LARGE = Tiling(128, 128, 16, 8, 8, group=4, spare=4, ahead=True)
SMALL = Tiling(32, 32, 16, 4, 2)


class Tiles:
    """The kernel of one product that is being written."""

    def __init__(self, emission: Emission, core: Tensor, root: Tensor, tiling: Tiling):
        self.emission, self.core, self.root, self.tiling = emission, core, root, tiling
        b = self.b = emission.b
        lead = core.shape[:-2]
        self.batch = emission.places(Index(lead, flat=GROUP[2])) if lead else ()
        self.top, self.first = b.mul(GROUP[1], tiling.rows), b.mul(GROUP[0], tiling.columns)
        across = tiling.columns // tiling.block_columns
        self.row_group, self.column_group = b.div(LOCAL, across), b.mod(LOCAL, across)
        self.down = tiling.places(tiling.rows, tiling.block_rows)
        self.along = tiling.places(tiling.columns, tiling.block_columns)

    def written(self) -> Written:
        """Write it."""
        b, tiling = self.b, self.tiling
        rows, columns = self.core.shape[-2:]
        depth = self.core.args[0].shape[-1]
        sums = [[b.var(f32(0.0)) for _ in self.along] for _ in self.down]
        held = [b.var(one) for one in self._fetched(u32(0))] if tiling.ahead else []
        with b.loop(u32(0), u32(depth), tiling.depth) as start:
            self._put([b.read(one) for one in held] if tiling.ahead else self._fetched(start))
            b.barrier()
            if tiling.ahead:
                # past the end the last step is read again, and not used
                end = (depth - 1) // tiling.depth * tiling.depth
                following = b.op("min", "u32", b.add(start, u32(tiling.depth)), u32(end))
                for var, value in zip(held, self._fetched(following), strict=True):
                    b.assign(var, value)
            self._multiply(sums)
            b.barrier()
        fours = self._store(sums)
        shared = (
            Shared("left", "f32", tiling.depth * tiling.line),
            Shared("right", self._words, tiling.depth * tiling.columns // tiling.group),
        )
        grid = (-(-columns // tiling.columns), -(-rows // tiling.rows), prod(self.core.shape[:-2]))
        return Written(shared, grid, tiling.threads, fours)

    @property
    def _words(self) -> str:
        return "f32x4" if self.tiling.group == 4 else "f32"

    def _numbers(self, tile: tuple[int, int]) -> Iterator[tuple[Atom, Atom, Atom]]:
        """The groups of a tile that this invocation fetches: their numbers, lines, places in it."""
        b, tiling = self.b, self.tiling
        for turn in range(tile[0] * tile[1] // (tiling.threads * tiling.group)):
            number = b.add(LOCAL, u32(turn * tiling.threads))
            per = tile[1] // tiling.group
            yield number, b.div(number, per), b.mod(number, per)

    def _fetched(self, start: Atom) -> list[Atom]:
        """The elements of both tiles that this invocation fetches, a group after the other."""
        tiling = self.tiling
        left, right = self.core.args
        return [
            *self._tile(left, (self.top, start), (tiling.rows, tiling.depth)),
            *self._tile(right, (start, self.first), (tiling.depth, tiling.columns)),
        ]

    def _tile(self, x: Tensor, origin: tuple[Atom, Atom], tile: tuple[int, int]) -> Iterator[Atom]:
        b, group = self.b, self.tiling.group
        for _, line, place in self._numbers(tile):
            row = b.add(origin[0], line)
            for lane in range(group):
                if group == 4:
                    quarter = b.add(b.div(origin[1], 4), place)
                    column = self.emission.one_of(quarter, lane)
                else:
                    column = b.add(origin[1], place)
                sizes = x.shape[-2:]
                yield self._element(x, ((row, sizes[0], tile[0]), (column, sizes[1], tile[1])))

    def _put(self, values: Sequence[Atom]) -> None:
        """Write what was fetched to the workgroup's tiles, the left one depth first."""
        b, tiling = self.b, self.tiling
        group, rest = tiling.group, iter(values)
        for _, row, deep in self._numbers((tiling.rows, tiling.depth)):
            for lane in range(group):
                line = b.mul(b.add(b.mul(deep, group), u32(lane)), tiling.line)
                b.store("left", b.add(line, row), next(rest), shared=True)
        for number, _, _ in self._numbers((tiling.depth, tiling.columns)):
            words = [next(rest) for _ in range(group)]
            word = b.op("four", "f32x4", *words) if group == 4 else words[0]
            b.store("right", number, word, shared=True)

    def _multiply(self, sums: Sequence[Sequence[Ref]]) -> None:
        """Add the products of one step's tiles to the sums."""
        b, tiling = self.b, self.tiling
        mine = b.mul(self.row_group, tiling.group)
        for step in range(tiling.depth):
            line = step * tiling.line
            ones = [
                b.load_shared("left", "f32", b.add(mine, u32(line + place))) for place in self.down
            ]
            for block, one in zip(sums, ones, strict=True):
                for total, other in zip(block, self._rights(step), strict=True):
                    b.assign(total, b.op("fma", "f32", one, other, total))

    def _rights(self, step: int) -> list[Atom]:
        """The elements of one line of the right tile that this invocation multiplies with."""
        b, group = self.b, self.tiling.group
        found: list[Atom] = []
        for place in self.along[::group]:
            at = b.add(self.column_group, u32((step * self.tiling.columns + place) // group))
            word = b.load_shared("right", self._words, at)
            lanes = (
                [b.op("lane", "f32", word, target=lane) for lane in "xyzw"]
                if group == 4
                else [word]
            )
            found += lanes
        return found

    def _store(self, sums: Sequence[Sequence[Ref]]) -> bool:
        """Write the sums, or what the tail makes of them; whether that is done by fours."""
        b, tiling = self.b, self.tiling
        rows, columns = self.core.shape[-2:]
        fills = not rows % tiling.rows and not columns % tiling.columns
        fours = fills and tiling.group == 4 and self.root.dtype.words == 1
        for n, block in zip(self.down, sums, strict=True):
            row = b.add(self.top, b.add(b.mul(self.row_group, tiling.group), u32(n)))
            for turn, place in enumerate(self.along[:: tiling.group]):
                values = [b.read(one) for one in block[turn * tiling.group :][: tiling.group]]
                column = b.add(b.mul(self.column_group, tiling.group), u32(place))
                if fours:
                    self._store_four(row, column, values)
                    continue
                for lane, value in enumerate(values):
                    self._store_one(row, b.add(b.add(self.first, column), u32(lane)), value)
        return fours

    def _store_one(self, row: Atom, column: Atom, value: Atom) -> None:
        b, tiling = self.b, self.tiling
        rows, columns = self.core.shape[-2:]
        fits = _within(b, ((row, rows, tiling.rows), (column, columns, tiling.columns)))
        with b.when(fits):
            line = b.add(b.mul(GROUP[2], rows * columns), b.mul(row, columns))
            ended(self.emission, self.core, self.root, b.add(line, column), (value,))

    def _store_four(self, row: Atom, column: Atom, values: Sequence[Atom]) -> None:
        b = self.b
        rows, columns = (size for size in self.core.shape[-2:])
        line = b.add(b.mul(GROUP[2], rows * columns // 4), b.mul(row, columns // 4))
        quarter = b.add(line, b.add(b.div(self.first, 4), b.div(column, 4)))
        stored_four(self.emission, self.root, quarter, self.core, values)

    def _element(self, x: Tensor, axes: Axes) -> Atom:
        """An element of a matrix, 0 beyond its edges."""
        b = self.b
        fits = _within(b, axes)
        near = [
            b.op("min", "u32", place, u32(size - 1)) if size % tile else place
            for place, size, tile in axes
        ]
        value = self.emission.at(x, Index(x.shape, places=(*self.batch, *near)))[0]
        return b.op("select", "f32", fits, value, f32(0.0))


def _within(b: Builder, axes: Axes) -> Atom:
    """Whether places are within sizes; nothing is asked where tiles fill a size."""
    fits: Atom = truth(True)
    for place, size, tile in axes:
        if size % tile:
            fits = b.op("and", "bool", fits, b.op("lt", "bool", place, u32(size)))
    return fits
