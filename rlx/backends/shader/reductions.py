"""Reductions: one invocation, or a workgroup, for one sum, product or extreme."""

from __future__ import annotations

import math
from math import prod
from typing import TYPE_CHECKING

from rlx.backends.shader.builder import Builder, u32
from rlx.backends.shader.emission import Emission, Index
from rlx.backends.shader.grids import grid_of, group_number, numbered
from rlx.backends.shader.ir import LOCAL, Shared
from rlx.backends.shader.results import Written, ended
from rlx.backends.shader.scalars import computed, rounded
from rlx.backends.shader.tensor import Tensor
from rlx.backends.shader.values import Value, converted, literal

if TYPE_CHECKING:
    from rlx.backends.shader.ir import Atom

_COMBINE = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}


def _goes_together(root: Tensor) -> bool:
    """Whether a workgroup shares one result's terms: many of them, side by side in memory."""
    source, axes = root.args[0], root.params[1]
    terms = prod(source.shape[axis] for axis in axes)
    long = [axis for axis in range(source.ndim) if source.shape[axis] > 1]
    beside = bool(long) and long[-1] in axes
    return (beside and terms >= 128) or (terms >= 512 and root.size < 1024)


def neutral(root: Tensor) -> Value:
    """What a reduction begins with."""
    name, dtype = root.params[0], root.dtype
    if name in ("sum", "prod"):
        return literal(0 if name == "sum" else 1, root.register)
    if dtype.kind == "float":
        return literal(-math.inf if name == "max" else math.inf, root.register)
    # the bounds may be narrower than the dtype: the register is what must hold it
    low, high = (root.low, root.high)
    return literal(low if name == "max" else high, root.register)


def combined(b: Builder, root: Tensor, first: Value, second: Value) -> Value:
    """Two partial results as one."""
    one = Tensor("partial", (), (), (), root.dtype, (root.low, root.high))
    name = _COMBINE[root.params[0]]
    if name in ("add", "mul") and root.dtype.kind == "float":
        return (b.op(name, "f32", first[0], second[0]),)
    made = Tensor("map", (one, one), (name,), (), root.dtype, (root.low, root.high))
    return computed(b, made, [first, second])


def _term(emission: Emission, root: Tensor, kept: tuple[Atom, ...], term: Atom) -> Value:
    """The element of the reduced array that is the given one of a result's terms."""
    source, axes = root.args[0], root.params[1]
    sizes = tuple(source.shape[axis] for axis in axes)
    along = emission.places(Index(sizes, flat=term))
    places = list(kept)
    for axis, place in zip(axes, along, strict=True):
        places[axis] = place
    if axes == tuple(range(source.ndim)):
        index = Index(source.shape, flat=term)
    else:
        index = Index(source.shape, places=tuple(places))
    value = emission.at(source, index)
    if source.dtype.kind in ("float", "bool"):
        return value
    return converted(emission.b, value, source.register, root.register)


def finished(b: Builder, root: Tensor, value: Value) -> Value:
    """A reduction's result as its dtype holds it."""
    if root.dtype.kind == "float" and root.dtype.bits < 32:
        return (rounded(b, value[0], root.dtype),)
    return value


def write(emission: Emission, core: Tensor, root: Tensor, threads: int) -> Written:
    """The kernel of a reduction, which ends in `root`."""
    way = _together if _goes_together(core) else _alone
    return way(emission, core, root, threads)


def _alone(emission: Emission, root: Tensor, last: Tensor, threads: int) -> Written:
    """One invocation for one result."""
    b = emission.b
    place, grid, size = numbered(b, root.size, threads)
    terms = prod(root.args[0].shape[axis] for axis in root.params[1])
    with b.when(b.op("lt", "bool", place, u32(root.size))):
        kept = emission.places(Index(root.shape, flat=place))
        total = [b.var(word) for word in neutral(root)]
        with b.loop(u32(0), u32(terms)) as term:
            value = _term(emission, root, kept, term)
            now = tuple(b.read(one) for one in total)
            for var, word in zip(total, combined(b, root, now, value), strict=True):
                b.assign(var, word)
        value = finished(b, root, tuple(b.read(one) for one in total))
        ended(emission, root, last, place, value)
    return Written((), grid, size)


def _together(emission: Emission, root: Tensor, last: Tensor, threads: int) -> Written:
    """A workgroup for one result: each invocation a part of the terms, then by halves."""
    b = emission.b
    terms = prod(root.args[0].shape[axis] for axis in root.params[1])
    size = min(threads, 256, 1 << max((terms - 1).bit_length() - 1, 0))
    grid = grid_of(root.size)
    place = group_number(b, grid)
    held = b.op("min", "u32", place, u32(root.size - 1)) if grid[1] > 1 else place
    kept = emission.places(Index(root.shape, flat=held))
    total = [b.var(word) for word in neutral(root)]
    with b.loop(LOCAL, u32(terms), size) as term:
        value = _term(emission, root, kept, term)
        now = tuple(b.read(one) for one in total)
        for var, word in zip(total, combined(b, root, now, value), strict=True):
            b.assign(var, word)
    shared = halved(emission, root, tuple(b.read(one) for one in total), size, "part")
    first = b.op("eq", "bool", LOCAL, u32(0))
    if grid[1] > 1:
        first = b.op("and", "bool", first, b.op("lt", "bool", place, u32(root.size)))
    with b.when(first):
        value = parts_at(b, root, shared, u32(0))
        ended(emission, root, last, place, finished(b, root, value))
    return Written(shared, grid, size)


def _shared_type(x: Tensor) -> str:
    return "u32" if x.register in ("pair", "bool") else x.register


def parts_at(b: Builder, root: Tensor, shared: tuple[Shared, ...], at: Atom) -> Value:
    """The partial result at a place of the workgroup's memory."""
    words = tuple(b.load_shared(one.name, one.type, at) for one in shared)
    return (b.op("ne", "bool", words[0], u32(0)),) if root.register == "bool" else words


def _keep(b: Builder, root: Tensor, shared: tuple[Shared, ...], value: Value) -> None:
    if root.register == "bool":
        value = (b.op("select", "u32", value[0], u32(1), u32(0)),)
    for one, word in zip(shared, value, strict=True):
        b.store(one.name, LOCAL, word, shared=True)


def halved(
    emission: Emission,
    root: Tensor,
    total: Value,
    size: int,
    name: str,
) -> tuple[Shared, ...]:
    """All invocations' totals combined into place 0 of the workgroup's memory."""
    b = emission.b
    shared = tuple(Shared(f"{name}{n}", _shared_type(root), size) for n in range(len(total)))
    _keep(b, root, shared, total)
    b.barrier()
    with b.loop(u32(0), u32(size.bit_length() - 1)) as turn:
        half = b.op("shr", "u32", u32(size // 2), turn)
        with b.when(b.op("lt", "bool", LOCAL, half)):
            mine = parts_at(b, root, shared, LOCAL)
            other = parts_at(b, root, shared, b.add(LOCAL, half))
            _keep(b, root, shared, combined(b, root, mine, other))
        b.barrier()
    return shared
