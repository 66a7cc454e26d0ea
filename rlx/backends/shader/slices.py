"""Products of few elements with many terms: the invocations of a workgroup share their terms.

Such products fill no device by tiles. Here some invocations have the same block of elements, each
a slice of the terms, read by fours straight from memory; their parts are added up in the
workgroup's memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from rlx.backends.shader.builder import f32, truth, u32
from rlx.backends.shader.emission import Index
from rlx.backends.shader.ir import GROUP, LOCAL, Shared
from rlx.backends.shader.results import Written, ended

if TYPE_CHECKING:
    from rlx.backends.shader.emission import Emission
    from rlx.backends.shader.ir import Atom
    from rlx.backends.shader.tensor import Tensor

FOUR = 4


@dataclass(frozen=True, slots=True)
class Slicing:
    """A workgroup's elements, how many rows of four columns an invocation has, and the slices."""

    rows: int
    columns: int
    block: int
    slices: int = 16

    @property
    def positions(self) -> int:
        """How many invocations it takes to have all elements."""
        return (self.rows // self.block) * (self.columns // FOUR)

    @property
    def threads(self) -> int:
        """How many invocations share the elements and their terms."""
        return self.positions * self.slices


SQUARE, LINE = Slicing(16, 16, 4), Slicing(1, 64, 1)
"""For matrices, and for products of a few rows."""


def slicing_for(product: Tensor) -> Slicing:
    """The one that wastes less."""
    return SQUARE if product.shape[-2] >= FOUR else LINE


def write(emission: Emission, core: Tensor, root: Tensor, slicing: Slicing) -> Written:
    """The kernel of a product, which ends in `root`."""
    b = emission.b
    rows, columns = core.shape[-2:]
    lead, depth = core.shape[:-2], core.args[0].shape[-1]
    batch = emission.places(Index(lead, flat=GROUP[2])) if lead else ()
    top, first = b.mul(GROUP[1], slicing.rows), b.mul(GROUP[0], slicing.columns)
    position, mine = b.mod(LOCAL, slicing.positions), b.div(LOCAL, slicing.positions)
    across = slicing.columns // FOUR
    row = b.add(top, b.mul(b.div(position, across), slicing.block))
    my_rows = [
        _near(emission, b.add(row, u32(n)), rows, slicing.rows) for n in range(slicing.block)
    ]
    my_columns = _columns(emission, b.add(b.div(first, FOUR), b.mod(position, across)), columns)
    left, right = core.args
    sums = [[b.var(f32(0.0)) for _ in my_columns] for _ in my_rows]
    with b.loop(mine, u32(-(-depth // FOUR)), slicing.slices) as quarter:
        for lane in range(FOUR):
            term = emission.one_of(quarter, lane)
            fits = truth(True) if depth % FOUR == 0 else b.op("lt", "bool", term, u32(depth))
            deep = _near(emission, term, depth, FOUR)
            ones, others = (
                [
                    b.op(
                        "select",
                        "f32",
                        fits,
                        emission.at(x, Index(x.shape, places=at))[0],
                        f32(0.0),
                    )
                    for at in places
                ]
                for x, places in (
                    (left, [(*batch, one, deep) for one in my_rows]),
                    (right, [(*batch, deep, one) for one in my_columns]),
                )
            )
            for block, one in zip(sums, ones, strict=True):
                for total, other in zip(block, others, strict=True):
                    b.assign(total, b.op("fma", "f32", one, other, total))
    size = slicing.threads
    for number, total in enumerate(one for block in sums for one in block):
        b.store("part", b.add(LOCAL, u32(number * size)), b.read(total), shared=True)
    b.barrier()
    _add_up(emission, core, root, slicing, (top, first))
    shared = (Shared("part", "f32", size * slicing.block * FOUR),)
    grid = (-(-columns // slicing.columns), -(-rows // slicing.rows), prod(lead))
    return Written(shared, grid, size)


def _near(emission: Emission, place: Atom, size: int, tile: int) -> Atom:
    """The place, or the last one where it is beyond the edge."""
    return emission.b.op("min", "u32", place, u32(size - 1)) if size % tile else place


def _columns(emission: Emission, quarter: Atom, columns: int) -> list[Atom]:
    """Four columns, all of which there are."""
    b = emission.b
    if columns % FOUR == 0:
        inside = b.op("min", "u32", quarter, u32(columns // FOUR - 1))
        return [emission.one_of(inside, lane) for lane in range(FOUR)]
    start = b.mul(quarter, FOUR)
    return [b.op("min", "u32", b.add(start, u32(lane)), u32(columns - 1)) for lane in range(FOUR)]


def _add_up(
    emission: Emission,
    core: Tensor,
    root: Tensor,
    slicing: Slicing,
    origin: tuple[Atom, Atom],
) -> None:
    """Add the slices' parts: an invocation for an element."""
    b = emission.b
    rows, columns = core.shape[-2:]
    down, along = b.div(LOCAL, slicing.columns), b.mod(LOCAL, slicing.columns)
    row, column = b.add(origin[0], down), b.add(origin[1], along)
    fits = b.op(
        "and", "bool", b.op("lt", "bool", row, u32(rows)), b.op("lt", "bool", column, u32(columns))
    )
    if slicing.rows * slicing.columns < slicing.threads:
        among = b.op("lt", "bool", LOCAL, u32(slicing.rows * slicing.columns))
        fits = b.op("and", "bool", fits, among)
    across = slicing.columns // FOUR
    position = b.add(b.mul(b.div(down, slicing.block), across), b.div(along, FOUR))
    number = b.add(b.mul(b.mod(down, slicing.block), FOUR), b.mod(along, FOUR))
    start = b.add(b.mul(number, slicing.threads), position)
    with b.when(fits):
        total: Atom = b.load_shared("part", "f32", start)
        for turn in range(1, slicing.slices):
            part = b.load_shared("part", "f32", b.add(start, u32(turn * slicing.positions)))
            total = b.op("add", "f32", total, part)
        line = b.add(b.mul(GROUP[2], rows * columns), b.mul(row, columns))
        ended(emission, core, root, b.add(line, column), (total,))
