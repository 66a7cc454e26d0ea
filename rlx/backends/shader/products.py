"""Matrix products: which tiles a workgroup computes, and products that are too small for tiles."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from rlx.backends.shader import slices
from rlx.backends.shader.builder import f32, u32
from rlx.backends.shader.emission import Index
from rlx.backends.shader.grids import WIDEST, grid_of, group_number
from rlx.backends.shader.ir import LOCAL
from rlx.backends.shader.results import Written, ended
from rlx.backends.shader.tiles import LARGE, SMALL, Tiles, Tiling

if TYPE_CHECKING:
    from rlx.backends.shader.driver import Limits
    from rlx.backends.shader.emission import Emission
    from rlx.backends.shader.tensor import Tensor

MANY_LARGE, MANY_SMALL = 64, 256
"""From how many tiles on they are faster than smaller ones, and than slices, on a large device."""


def write(emission: Emission, core: Tensor, root: Tensor, limits: Limits) -> Written:
    """The kernel of a product of float32, which ends in `root`.

    Tiles where there are enough of them to fill a device, slices of the terms where there are not.
    """
    rows, columns, depth = *core.shape[-2:], core.args[0].shape[-1]
    batch = prod(core.shape[:-2])
    if max(batch, -(-rows // 16), -(-columns // 16)) > WIDEST:
        return _alone(emission, core, root, limits.threads)

    def count(tiling: Tiling) -> int:
        return batch * -(-rows // tiling.rows) * -(-columns // tiling.columns)

    large = limits.patient and limits.threads >= LARGE.threads
    if large and count(LARGE) >= MANY_LARGE and min(rows, columns) >= 64:
        return Tiles(emission, core, root, LARGE).written()
    slicing = slices.slicing_for(core)
    if count(SMALL) < MANY_SMALL and depth >= 64 and limits.threads >= slicing.threads:
        return slices.write(emission, core, root, slicing)
    if min(rows, columns, depth) >= 16 and limits.threads >= SMALL.threads:
        return Tiles(emission, core, root, SMALL).written()
    return _alone(emission, core, root, limits.threads)


def _alone(emission: Emission, core: Tensor, root: Tensor, threads: int) -> Written:
    """One invocation for one element."""
    b = emission.b
    size = min(threads, 64)
    grid = grid_of(-(-core.size // size))
    place = b.add(b.mul(group_number(b, grid), size), LOCAL)
    left, right = core.args
    with b.when(b.op("lt", "bool", place, u32(core.size))):
        *lead, row, column = emission.places(Index(core.shape, flat=place))
        total = b.var(f32(0.0))
        with b.loop(u32(0), u32(left.shape[-1])) as term:
            one = emission.at(left, Index(left.shape, places=(*lead, row, term)))[0]
            other = emission.at(right, Index(right.shape, places=(*lead, term, column)))[0]
            b.assign(total, b.op("fma", "f32", one, other, b.read(total)))
        ended(emission, core, root, place, (b.read(total),))
    return Written((), grid, size)
