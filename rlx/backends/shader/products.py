"""Matrix products: tiles in the workgroup's memory, and a block of named sums in each invocation.

The loops over a block are unrolled here: sums in an array that is indexed stay out of registers,
and reach a twentieth of the speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from rlx.backends.shader.builder import f32, u32
from rlx.backends.shader.emission import Index
from rlx.backends.shader.ir import GROUP, LOCAL, Shared

if TYPE_CHECKING:
    from rlx.backends.shader.emission import Emission
    from rlx.backends.shader.ir import Atom
    from rlx.backends.shader.tensor import Shape, Tensor

Written = tuple[tuple[Shared, ...], tuple[int, int, int], int]


@dataclass(frozen=True, slots=True)
class Tiling:
    """A workgroup's tile, how deep its steps are, and an invocation's block of it."""

    rows: int
    columns: int
    depth: int
    block_rows: int
    block_columns: int

    @property
    def threads(self) -> int:
        """How many invocations share a tile."""
        return (self.rows // self.block_rows) * (self.columns // self.block_columns)


LARGE = Tiling(128, 128, 8, 8, 8)
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
    lead = root.shape[:-2]
    depth = root.args[0].shape[-1]
    tiling = tiling_for(rows, columns, depth, threads)
    if tiling is None or prod(lead) > 65535:
        return _alone(emission, root, last, threads)
    return _tiled(emission, root, last, tiling)


def _alone(emission: Emission, root: Tensor, last: Tensor, threads: int) -> Written:
    """One invocation for one element."""
    from rlx.backends.shader.kernels import ended, grid_of, group_number

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
    threads = tiling.threads
    grid = (-(-columns // tiling.columns), -(-rows // tiling.rows), prod(lead))
    shared = (
        Shared("left", "f32", tiling.depth * tiling.rows),
        Shared("right", "f32", tiling.depth * tiling.columns),
    )
    batch = emission.places(Index(lead, flat=GROUP[2])) if lead else ()
    top, first = b.mul(GROUP[1], tiling.rows), b.mul(GROUP[0], tiling.columns)
    across = tiling.columns // tiling.block_columns
    my_row, my_column = b.div(LOCAL, across), b.mod(LOCAL, across)
    sums = [
        [b.var(f32(0.0)) for _ in range(tiling.block_columns)] for _ in range(tiling.block_rows)
    ]
    with b.loop(u32(0), u32(depth), tiling.depth) as start:
        _fill_left(emission, left, batch, top, start, tiling, (rows, depth))
        _fill_right(emission, right, batch, first, start, tiling, (depth, columns))
        b.barrier()
        for step in range(tiling.depth):
            ones = [
                b.load_shared(
                    "left",
                    "f32",
                    b.add(
                        my_row,
                        u32(step * tiling.rows + n * (tiling.rows // tiling.block_rows)),
                    ),
                )
                for n in range(tiling.block_rows)
            ]
            others = [
                b.load_shared(
                    "right", "f32", b.add(my_column, u32(step * tiling.columns + n * across))
                )
                for n in range(tiling.block_columns)
            ]
            for row, one in zip(sums, ones, strict=True):
                for total, other in zip(row, others, strict=True):
                    b.assign(total, b.op("fma", "f32", one, other, total))
        b.barrier()
    base = b.mul(GROUP[2], rows * columns)
    for n, block in enumerate(sums):
        at_row = b.add(top, b.add(my_row, u32(n * (tiling.rows // tiling.block_rows))))
        for m, total in enumerate(block):
            column = b.add(first, b.add(my_column, u32(m * across)))
            fits = b.op("lt", "bool", at_row, u32(rows))
            fits = b.op("and", "bool", fits, b.op("lt", "bool", column, u32(columns)))
            with b.when(fits):
                at = b.add(b.add(base, b.mul(at_row, columns)), column)
                ended(emission, root, last, at, (b.read(total),))
    return shared, grid, threads


def _fill_left(
    emission: Emission,
    x: Tensor,
    batch: tuple[Atom, ...],
    top: Atom,
    start: Atom,
    tiling: Tiling,
    sizes: Shape,
) -> None:
    """The tile of the left matrix, depth first: neighbours along the depth are read together."""
    b = emission.b
    for turn in range(tiling.rows * tiling.depth // tiling.threads):
        number = b.add(LOCAL, u32(turn * tiling.threads))
        row, deep = b.div(number, tiling.depth), b.mod(number, tiling.depth)
        value = _element(emission, x, batch, b.add(top, row), b.add(start, deep), sizes)
        b.store("left", b.add(b.mul(deep, tiling.rows), row), value, shared=True)


def _fill_right(
    emission: Emission,
    x: Tensor,
    batch: tuple[Atom, ...],
    first: Atom,
    start: Atom,
    tiling: Tiling,
    sizes: Shape,
) -> None:
    b = emission.b
    for turn in range(tiling.columns * tiling.depth // tiling.threads):
        number = b.add(LOCAL, u32(turn * tiling.threads))
        deep, column = b.div(number, tiling.columns), b.mod(number, tiling.columns)
        value = _element(emission, x, batch, b.add(start, deep), b.add(first, column), sizes)
        b.store("right", number, value, shared=True)


def _element(
    emission: Emission, x: Tensor, batch: tuple[Atom, ...], row: Atom, column: Atom, sizes: Shape
) -> Atom:
    """An element of a matrix, 0 beyond its edges."""
    b = emission.b
    fits = b.op("lt", "bool", row, u32(sizes[0]))
    fits = b.op("and", "bool", fits, b.op("lt", "bool", column, u32(sizes[1])))
    near_row = b.op("min", "u32", row, u32(sizes[0] - 1))
    near_column = b.op("min", "u32", column, u32(sizes[1] - 1))
    value = emission.at(x, Index(x.shape, places=(*batch, near_row, near_column)))[0]
    return b.op("select", "f32", fits, value, f32(0.0))
