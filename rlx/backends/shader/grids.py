"""Grids of workgroups, and where in them a workgroup is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.shader.ir import GROUP, LOCAL

if TYPE_CHECKING:
    from rlx.backends.shader.builder import Builder
    from rlx.backends.shader.ir import Atom

WIDEST = 65535
"""How many workgroups a grid may have along an axis."""


def grid_of(count: int) -> tuple[int, int, int]:
    """A grid of at least so many workgroups."""
    if count <= WIDEST:
        return max(count, 1), 1, 1
    rows = -(-count // WIDEST)
    return -(-count // rows), rows, 1


def group_number(b: Builder, grid: tuple[int, int, int]) -> Atom:
    """The number of the workgroup in its grid."""
    if grid[1] == 1:
        return GROUP[0]
    return b.add(b.mul(GROUP[1], grid[0]), GROUP[0])


def numbered(b: Builder, count: int, threads: int) -> tuple[Atom, tuple[int, int, int], int]:
    """The number of the invocation, for one element each; the grid, and the workgroup's size."""
    size = min(threads, 64 if count <= 4096 else 256)
    grid = grid_of(-(-count // size))
    return b.add(b.mul(group_number(b, grid), size), LOCAL), grid, size
