"""One kernel for one array that goes to memory: of elements, of sums and extremes, of products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.backends.shader import products, reductions, rows
from rlx.backends.shader.builder import truth, u32
from rlx.backends.shader.emission import Emission, Index, Mixed
from rlx.backends.shader.grids import grid_of, group_number, numbered
from rlx.backends.shader.ir import LOCAL, Buffer, Kernel
from rlx.backends.shader.results import OUT, Written, stored, stored_four, word_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.shader.driver import Limits
    from rlx.backends.shader.regions import Row
    from rlx.backends.shader.tensor import Tensor

MANY = 1 << 16
"""Arrays of so many elements are computed by fours, where they divide."""


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel, and the arrays that its buffers hold: the one that is made comes last."""

    kernel: Kernel
    reads: tuple[int, ...]
    """By serial, in the order of the kernel's buffers."""
    makes: Tensor


def work_for(
    root: Tensor,
    in_memory: Mapping[int, Tensor],
    limits: Limits,
    row: Row | None = None,
    core: Tensor | None = None,
) -> Work:
    """The kernel that computes `root` from what is in memory.

    It makes a row, or ends in `root` what begins with the sum or product `core`.
    """
    single: frozenset[int] = frozenset()
    while True:
        emission = Emission(in_memory.keys() - {root.serial}, single=single, loose=limits.loose)
        try:
            return _work(emission, root, limits, row, core)
        except Mixed as found:
            single |= {found.serial}


def _work(
    emission: Emission, root: Tensor, limits: Limits, row: Row | None, core: Tensor | None
) -> Work:
    threads = limits.threads
    first = root if core is None else core
    if row is not None:
        made = rows.write(emission, row, threads)
    elif first.op == "matmul":
        made = products.write(emission, first, root, limits)
    elif first.op == "reduce":
        made = reductions.write(emission, first, root, threads)
    elif root.dtype.words == 1 and root.size % 4 == 0 and root.size >= MANY:
        made = _mapped_by_fours(emission, root, threads)
    else:
        made = _mapped(emission, root, threads)
    held = word_type(root)
    result = Buffer(OUT, f"{held}x4" if made.fours else held, True)
    buffers = (*emission.read.values(), result)
    kernel = Kernel(buffers, made.shared, emission.b.body, made.threads, made.grid)
    return Work(kernel, tuple(emission.read), root)


def _mapped(emission: Emission, root: Tensor, threads: int) -> Written:
    b = emission.b
    place, grid, size = numbered(b, root.size, threads)
    with b.when(b.op("lt", "bool", place, u32(root.size))):
        stored(b, root, place, emission.at(root, Index(root.shape, flat=place)))
    return Written((), grid, size)


def _mapped_by_fours(emission: Emission, root: Tensor, threads: int) -> Written:
    b = emission.b
    size, count = min(threads, 256), root.size // 4
    grid = grid_of(-(-count // size))
    quarter = b.add(b.mul(group_number(b, grid), size), LOCAL)
    fills = grid[0] * grid[1] * size == count
    with b.when(truth(True) if fills else b.op("lt", "bool", quarter, u32(count))):
        stored_four(emission, root, quarter)
    return Written((), grid, size, fours=True)
