"""Matrix products: tiles in the workgroup's memory, and a block of named sums in each invocation.

The loops over a block are unrolled here: sums in an array that is indexed stay out of registers,
and reach a twentieth of the speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from rlx.backends.shader.builder import Builder, f32, truth, u32
from rlx.backends.shader.emission import Index
from rlx.backends.shader.grids import WIDEST, grid_of, group_number
from rlx.backends.shader.ir import GROUP, LOCAL, Ref, Shared

if TYPE_CHECKING:
    from rlx.backends.shader.emission import Emission
    from rlx.backends.shader.ir import Atom
    from rlx.backends.shader.tensor import Shape, Tensor

Written = tuple[tuple[Shared, ...], tuple[int, int, int], int]


@dataclass(frozen=True, slots=True)
class Tiling:
    """A workgroup's tile, how deep its steps are, and an invocation's block of it.

    Blocks are made of groups of `group` neighbours, which one instruction can read. `spare`
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

    def place(self, number: int, size: int, block: int) -> int:
        """Where the block's element of this number is in its line, from the block's first on."""
        return number // self.group * (size // block * self.group) + number % self.group


LARGE = Tiling(128, 128, 8, 8, 16, group=4, spare=4, ahead=True)
SMALL = Tiling(32, 32, 16, 4, 2)


def tiling_for(rows: int, columns: int, depth: int, threads: int) -> Tiling | None:
    """The tiles that fit a product; None where each element is better summed by itself."""
    if rows >= 256 and columns >= 256 and threads >= LARGE.threads:
        return LARGE
    if rows >= 16 and columns >= 16 and depth >= 16 and threads >= SMALL.threads:
        return SMALL
    return None


def write(emission: Emission, root: Tensor, last: Tensor, threads: int) -> Written:
    """The kernel of a product of float32, which ends in `last`."""
    rows, columns = root.shape[-2:]
    depth = root.args[0].shape[-1]
    tiling = tiling_for(rows, columns, depth, threads)
    if tiling is None or max(_grid(root, tiling)) > WIDEST:
        return _alone(emission, root, last, threads)
    return _tiled(emission, root, last, tiling)


def _grid(root: Tensor, tiling: Tiling) -> tuple[int, int, int]:
    """The tiles of a product, by column, by row, and by matrix."""
    *lead, rows, columns = root.shape
    return -(-columns // tiling.columns), -(-rows // tiling.rows), prod(lead)


def _alone(emission: Emission, root: Tensor, last: Tensor, threads: int) -> Written:
    """One invocation for one element."""
    from rlx.backends.shader.kernels import ended

    b = emission.b
    size = min(threads, 64)
    grid = grid_of(-(-root.size // size))
    place = b.add(b.mul(group_number(b, grid), size), LOCAL)
    left, right = root.args
    with b.when(b.op("lt", "bool", place, u32(root.size))):
        *lead, row, column = emission.places(Index(root.shape, flat=place))
        total = b.var(f32(0.0))
        with b.loop(u32(0), u32(left.shape[-1])) as term:
            one = emission.at(left, Index(left.shape, places=(*lead, row, term)))[0]
            other = emission.at(right, Index(right.shape, places=(*lead, term, column)))[0]
            b.assign(total, b.op("fma", "f32", one, other, b.read(total)))
        ended(emission, root, last, place, (b.read(total),))
    return (), grid, size


def _tiled(emission: Emission, root: Tensor, last: Tensor, tiling: Tiling) -> Written:
    from rlx.backends.shader.kernels import ended

    b = emission.b
    left, right = root.args
    rows, columns = root.shape[-2:]
    depth, lead = left.shape[-1], root.shape[:-2]
    grid = _grid(root, tiling)
    line = tiling.rows + tiling.spare
    shared = (
        Shared("left", "f32", tiling.depth * line),
        Shared("right", "f32", tiling.depth * tiling.columns),
    )
    batch = emission.places(Index(lead, flat=GROUP[2])) if lead else ()
    top, first = b.mul(GROUP[1], tiling.rows), b.mul(GROUP[0], tiling.columns)
    across = tiling.columns // tiling.block_columns
    my_row = b.mul(b.div(LOCAL, across), tiling.group)
    my_column = b.mul(b.mod(LOCAL, across), tiling.group)
    down = [tiling.place(n, tiling.rows, tiling.block_rows) for n in range(tiling.block_rows)]
    along = [
        tiling.place(n, tiling.columns, tiling.block_columns) for n in range(tiling.block_columns)
    ]
    sums = [[b.var(f32(0.0)) for _ in along] for _ in down]

    def fetched(start: Atom) -> list[tuple[str, Atom, Atom]]:
        return [
            *_left(emission, left, batch, top, start, tiling, (rows, depth)),
            *_right(emission, right, batch, first, start, tiling, (depth, columns)),
        ]

    held: list[Ref] = []
    if tiling.ahead:
        held = [b.var(value) for _, _, value in fetched(u32(0))]
    with b.loop(u32(0), u32(depth), tiling.depth) as start:
        tiles = _places(b, tiling) if tiling.ahead else fetched(start)
        for turn, (name, at, value) in enumerate(tiles):
            b.store(name, at, b.read(held[turn]) if tiling.ahead else value, shared=True)
        b.barrier()
        if tiling.ahead:
            # past the end the last step is read again, and not used
            end = (depth - 1) // tiling.depth * tiling.depth
            following = b.op("min", "u32", b.add(start, u32(tiling.depth)), u32(end))
            for var, (_, _, value) in zip(held, fetched(following), strict=True):
                b.assign(var, value)
        for step in range(tiling.depth):
            ones = [b.load_shared("left", "f32", b.add(my_row, u32(step * line + n))) for n in down]
            others = [
                b.load_shared("right", "f32", b.add(my_column, u32(step * tiling.columns + n)))
                for n in along
            ]
            for block, one in zip(sums, ones, strict=True):
                for total, other in zip(block, others, strict=True):
                    b.assign(total, b.op("fma", "f32", one, other, total))
        b.barrier()
    base = b.mul(GROUP[2], rows * columns)
    for n, block in zip(down, sums, strict=True):
        row = b.add(top, b.add(my_row, u32(n)))
        for m, total in zip(along, block, strict=True):
            column = b.add(first, b.add(my_column, u32(m)))
            fits = _within(b, ((row, rows, tiling.rows), (column, columns, tiling.columns)))
            with b.when(fits):
                at = b.add(b.add(base, b.mul(row, columns)), column)
                ended(emission, root, last, at, (b.read(total),))
    return shared, grid, tiling.threads


def _within(b: Builder, axes: tuple[tuple[Atom, int, int], ...]) -> Atom:
    """Whether places are within sizes; nothing is asked where tiles fill a size."""
    fits: Atom = truth(True)
    for place, size, tile in axes:
        if size % tile:
            fits = b.op("and", "bool", fits, b.op("lt", "bool", place, u32(size)))
    return fits


def _places(b: Builder, tiling: Tiling) -> list[tuple[str, Atom, Atom]]:
    """Where this invocation writes what it has fetched: names, places, and no values yet."""
    none = f32(0.0)
    lefts = [
        ("left", _left_place(b, number, tiling), none)
        for number in _numbers(b, tiling.rows * tiling.depth, tiling)
    ]
    rights = _numbers(b, tiling.columns * tiling.depth, tiling)
    return [*lefts, *(("right", number, none) for number in rights)]


def _numbers(b: Builder, size: int, tiling: Tiling) -> list[Atom]:
    """The elements of a tile that this invocation fetches."""
    return [b.add(LOCAL, u32(turn * tiling.threads)) for turn in range(size // tiling.threads)]


def _left_place(b: Builder, number: Atom, tiling: Tiling) -> Atom:
    row, deep = b.div(number, tiling.depth), b.mod(number, tiling.depth)
    return b.add(b.mul(deep, tiling.rows + tiling.spare), row)


def _left(
    emission: Emission,
    x: Tensor,
    batch: tuple[Atom, ...],
    top: Atom,
    start: Atom,
    tiling: Tiling,
    sizes: Shape,
) -> list[tuple[str, Atom, Atom]]:
    """The left tile, depth first in memory; neighbours along the depth are read together."""
    b = emission.b
    made = []
    for number in _numbers(b, tiling.rows * tiling.depth, tiling):
        row = b.add(top, b.div(number, tiling.depth))
        deep = b.add(start, b.mod(number, tiling.depth))
        axes = ((row, sizes[0], tiling.rows), (deep, sizes[1], tiling.depth))
        made.append(("left", _left_place(b, number, tiling), _element(emission, x, batch, axes)))
    return made


def _right(
    emission: Emission,
    x: Tensor,
    batch: tuple[Atom, ...],
    first: Atom,
    start: Atom,
    tiling: Tiling,
    sizes: Shape,
) -> list[tuple[str, Atom, Atom]]:
    b = emission.b
    made = []
    for number in _numbers(b, tiling.columns * tiling.depth, tiling):
        deep = b.add(start, b.div(number, tiling.columns))
        column = b.add(first, b.mod(number, tiling.columns))
        axes = ((deep, sizes[0], tiling.depth), (column, sizes[1], tiling.columns))
        made.append(("right", number, _element(emission, x, batch, axes)))
    return made


def _element(
    emission: Emission,
    x: Tensor,
    batch: tuple[Atom, ...],
    axes: tuple[tuple[Atom, int, int], ...],
) -> Atom:
    """An element of a matrix, 0 beyond its edges."""
    b = emission.b
    fits = _within(b, axes)
    near = [
        b.op("min", "u32", place, u32(size - 1)) if size % tile else place
        for place, size, tile in axes
    ]
    value = emission.at(x, Index(x.shape, places=(*batch, *near)))[0]
    return b.op("select", "f32", fits, value, f32(0.0))
