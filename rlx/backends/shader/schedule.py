"""What goes to memory, in which order: the rest of a program is inlined where it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from rlx.backends.protocol import TooLarge
from rlx.backends.shader.kernels import Work, work_for
from rlx.backends.shader.regions import find_rows, find_tails

if TYPE_CHECKING:
    from rlx.backends.shader.driver import Limits
    from rlx.backends.shader.regions import Row
    from rlx.backends.shader.tensor import Tensor

SUMS = frozenset({"reduce", "matmul"})
SPREADING = frozenset({"expand", "unfold", "matmul", "pick", "pad", "reduce"})
"""Operations that may read an element of their argument many times."""
CHEAP = frozenset(
    {
        *("add", "sub", "mul", "neg", "abs", "cast", "where", "and", "or", "xor", "not"),
        *("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "bits"),
    }
)
HEAVIEST = 160
"""How many scalar functions one kernel may inline along a path."""


def in_order(roots: Sequence[Tensor]) -> list[Tensor]:
    """All arrays that the roots are made of, arguments first."""
    order: list[Tensor] = []
    seen: set[int] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        one, done = stack.pop()
        if done:
            order.append(one)
        elif one.serial not in seen:
            seen.add(one.serial)
            stack.append((one, True))
            if not in_memory(one):
                stack.extend((arg, False) for arg in reversed(one.args))
    return order


def in_memory(x: Tensor) -> bool:
    """Whether it is there without being computed."""
    return x.op in ("memory", "host") or x.storage is not None


def is_literal(x: Tensor) -> bool:
    """Whether it is one value, known on the host: such values are written into the code."""
    if x.op != "host" or x.host is None:
        return False
    pairs = zip(x.host.shape, x.host.strides, strict=True)
    return all(stride == 0 or size == 1 for size, stride in pairs)


@dataclass(frozen=True, slots=True)
class Step:
    """An array that is computed to memory, by itself, as a row, or from a sum or product."""

    makes: Tensor
    row: Row | None = None
    core: Tensor | None = None


class _TooWide(Exception):
    """A row or tail reads more arrays than can be bound; it has this array."""

    def __init__(self, serial: int):
        super().__init__(serial)
        self.serial = serial


def cut(outputs: Sequence[Tensor], most_buffers: int) -> list[Step]:
    """The arrays that are computed to memory, in order."""
    apart: set[int] = set()
    while True:
        try:
            return _cut(outputs, most_buffers, apart)
        except _TooWide as found:
            apart.add(found.serial)


def _cut(outputs: Sequence[Tensor], most_buffers: int, apart: set[int]) -> list[Step]:
    """As `cut`, without the rows and tails that have one of the arrays `apart`."""
    order = in_order(outputs)
    wanted = {one.serial for one in outputs}
    readers: dict[int, list[Tensor]] = {}
    spread: set[int] = set()
    for one in order:
        if in_memory(one):
            continue
        for arg in one.args:
            readers.setdefault(arg.serial, []).append(one)
            if one.op in SPREADING:
                spread.add(arg.serial)
    rows = {
        one.root.serial: one for one in find_rows(order, readers, wanted) if not one.members & apart
    }
    held = {serial for one in rows.values() for serial in one.members}
    tails = {
        one.root.serial: one
        for one in find_tails(order, readers, wanted, held)
        if not one.members & apart
    }
    inner = held.union(*(one.members for one in tails.values())) - rows.keys() - tails.keys()
    for row in rows.values():
        spread |= {arg.serial for one in order if one.serial in row.members for arg in one.args}
    weight: dict[int, int] = {}
    leaves: dict[int, frozenset[int]] = {}
    roots: list[Tensor] = []
    for one in order:
        if in_memory(one):
            weight[one.serial] = 0
            leaves[one.serial] = frozenset() if is_literal(one) else frozenset({one.serial})
            continue
        _cut_arguments(one, weight, leaves, roots, most_buffers, inner)
        own = 0 if one.op not in ("map", "pick", "concat") else _cost(one)
        weight[one.serial] = own + sum(weight[arg.serial] for arg in one.args)
        none: frozenset[int] = frozenset()
        leaves[one.serial] = none.union(*(leaves[arg.serial] for arg in one.args))
        if one.serial in inner:
            continue
        heavy = weight[one.serial] > 2
        shared = len(readers.get(one.serial, ())) > 1 and weight[one.serial] > 3
        if (
            one.serial in wanted
            or one.serial in rows
            or one.serial in tails
            or one.op in SUMS
            or one.cut
            or (one.serial in spread and heavy)
            or shared
            or weight[one.serial] > HEAVIEST
        ):
            _to_memory(one, weight, leaves, roots)
    return [
        Step(
            one,
            rows.get(one.serial),
            tails[one.serial].core if one.serial in tails else None,
        )
        for one in roots
    ]


def _cost(one: Tensor) -> int:
    if one.op == "pick":
        return 1
    if one.op == "concat":
        return 2
    name = one.params[0]
    return 1 if name in CHEAP else 4


def _to_memory(
    one: Tensor, weight: dict[int, int], leaves: dict[int, frozenset[int]], roots: list[Tensor]
) -> None:
    weight[one.serial] = 0
    leaves[one.serial] = frozenset({one.serial})
    roots.append(one)


def _cut_arguments(
    one: Tensor,
    weight: dict[int, int],
    leaves: dict[int, frozenset[int]],
    roots: list[Tensor],
    most: int,
    inner: set[int],
) -> None:
    """Put arguments into memory until what is read for all of them fits the bindings.

    Raises:
        _TooWide: an argument is inside a row or tail, where it is never in memory.
        TooLarge: the arguments themselves are too many.
    """
    while True:
        every: frozenset[int] = frozenset()
        for arg in one.args:
            every |= leaves[arg.serial]
        if len(every) < most:  # one is left for the result
            return
        widest = max(one.args, key=lambda arg: len(leaves[arg.serial]))
        if len(leaves[widest.serial]) <= 1:
            raise TooLarge(f"{len(every)} arrays are read at once; the device binds {most}")
        if widest.serial in inner:
            raise _TooWide(widest.serial)
        _to_memory(widest, weight, leaves, roots)


def works(outputs: Sequence[Tensor], limits: Limits) -> list[Work]:
    """The kernels that compute the outputs, in order."""
    roots = cut([one for one in outputs if not in_memory(one)], limits.buffers)
    known = {one.serial: one for one in in_order(outputs) if in_memory(one) and not is_literal(one)}
    made: list[Work] = []
    for step in roots:
        root = step.makes
        if prod(root.shape):
            made.append(work_for(root, known, limits, step.row, step.core))
        known[root.serial] = root
    return made
