"""Axes in another order."""

from __future__ import annotations

from collections.abc import Sequence


def moved(
    ndim: int, source: int | Sequence[int], destination: int | Sequence[int]
) -> tuple[int, ...]:
    """The axes in the order in which some of them are elsewhere, and the others keep theirs."""
    sources = [n % ndim for n in ((source,) if isinstance(source, int) else source)]
    targets = [n % ndim for n in ((destination,) if isinstance(destination, int) else destination)]
    order = [axis for axis in range(ndim) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    return tuple(order)
