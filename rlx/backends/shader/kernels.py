"""One kernel for one array that goes to memory: of elements, of sums and extremes, of products."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from rlx.backends.shader import products
from rlx.backends.shader.builder import Builder, truth, u32
from rlx.backends.shader.emission import Emission, Index
from rlx.backends.shader.grids import grid_of, group_number
from rlx.backends.shader.ir import LOCAL, Buffer, Kernel, Ref, Shared
from rlx.backends.shader.scalars import computed, rounded
from rlx.backends.shader.tensor import Tensor
from rlx.backends.shader.values import Value, converted, literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.shader.ir import Atom
    from rlx.backends.shader.regions import Row

OUT = "result"
TURNS, MANY = 4, 1 << 20
"""How many elements an invocation computes, of arrays that have so many: groups cost as well."""


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
    threads: int,
    row: Row | None = None,
    core: Tensor | None = None,
    *,
    exact: bool = True,
) -> Work:
    """The kernel that computes `root` from what is in memory; `threads` is a workgroup's size.

    It makes a row, or ends in `root` what begins with the sum or product `core`.
    """
    emission = Emission(in_memory.keys() - {root.serial}, exact=exact)
    shared: tuple[Shared, ...] = ()
    first = root if core is None else core
    if row is not None:
        shared, grid, size = _row(emission, row, threads)
    elif first.op == "matmul":
        shared, grid, size = products.write(emission, first, root, threads)
    elif first.op == "reduce":
        if _goes_together(first):
            shared, grid, size = _reduced_together(emission, first, root, threads)
        else:
            grid, size = _reduced_alone(emission, first, root, threads)
    else:
        grid, size = _mapped(emission, root, threads)
    buffers = (*emission.read.values(), Buffer(OUT, word_type(root), True))
    kernel = Kernel(buffers, shared, emission.b.body, size, grid)
    return Work(kernel, tuple(emission.read), root)


def word_type(x: Tensor) -> str:
    """The type of the words that an array is held in."""
    return "u32" if x.dtype.words == 2 or x.dtype.kind == "bool" else x.dtype.register


def stored(b: Builder, x: Tensor, flat: Atom, value: Value) -> None:
    """Write an element to the result."""
    if x.dtype.kind == "bool":
        b.store(OUT, flat, b.op("select", "u32", value[0], u32(1), u32(0)))
    elif x.dtype.words == 1:
        b.store(OUT, flat, value[0])
    else:
        wide = converted(b, value, x.register, "pair")
        at = b.mul(flat, 2)
        b.store(OUT, at, wide[0])
        b.store(OUT, b.add(at, u32(1)), wide[1])


def ended(emission: Emission, core: Tensor, root: Tensor, flat: Atom, value: Value) -> None:
    """Write an element of a sum or product, or what its tail makes of it."""
    if core is not root:
        emission.fixed[core.serial] = value
        value = emission.at(root, Index(root.shape, flat=flat))
        del emission.fixed[core.serial]
    stored(emission.b, root, flat, value)


def _each(b: Builder, count: int, threads: int) -> tuple[Atom, tuple[int, int, int], int]:
    """The number of the invocation, for one element each; the grid, and the workgroup's size."""
    size = min(threads, 64 if count <= 4096 else 256)
    grid = grid_of(-(-count // size))
    return b.add(b.mul(group_number(b, grid), size), LOCAL), grid, size


def _mapped(emission: Emission, root: Tensor, threads: int) -> tuple[tuple[int, int, int], int]:
    b = emission.b
    size = min(threads, 64 if root.size <= 4096 else 256)
    turns = TURNS if root.size >= MANY else 1
    grid = grid_of(-(-root.size // (size * turns)))
    first = b.add(b.mul(group_number(b, grid), size * turns), LOCAL)
    for turn in range(turns):
        place = b.add(first, u32(turn * size))
        with b.when(b.op("lt", "bool", place, u32(root.size))):
            stored(b, root, place, emission.at(root, Index(root.shape, flat=place)))
    return grid, size


# Reductions.

_COMBINE = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}


def _goes_together(root: Tensor) -> bool:
    """Whether a workgroup shares one result's terms: many of them, side by side in memory."""
    source, axes = root.args[0], root.params[1]
    terms = prod(source.shape[axis] for axis in axes)
    long = [axis for axis in range(source.ndim) if source.shape[axis] > 1]
    beside = bool(long) and long[-1] in axes
    return (beside and terms >= 128) or (terms >= 512 and root.size < 1024)


def _neutral(root: Tensor) -> Value:
    name, dtype = root.params[0], root.dtype
    if name in ("sum", "prod"):
        return literal(0 if name == "sum" else 1, root.register)
    if dtype.kind == "float":
        return literal(-math.inf if name == "max" else math.inf, root.register)
    # the bounds may be narrower than the dtype: the register is what must hold it
    low, high = (root.low, root.high)
    return literal(low if name == "max" else high, root.register)


def _combined(b: Builder, root: Tensor, first: Value, second: Value) -> Value:
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


def _finished(b: Builder, root: Tensor, value: Value) -> Value:
    if root.dtype.kind == "float" and root.dtype.bits < 32:
        return (rounded(b, value[0], root.dtype),)
    return value


def _reduced_alone(
    emission: Emission, root: Tensor, last: Tensor, threads: int
) -> tuple[tuple[int, int, int], int]:
    """One invocation for one result."""
    b = emission.b
    place, grid, size = _each(b, root.size, threads)
    terms = prod(root.args[0].shape[axis] for axis in root.params[1])
    with b.when(b.op("lt", "bool", place, u32(root.size))):
        kept = emission.places(Index(root.shape, flat=place))
        total = [b.var(word) for word in _neutral(root)]
        with b.loop(u32(0), u32(terms)) as term:
            value = _term(emission, root, kept, term)
            now = tuple(b.read(one) for one in total)
            for var, word in zip(total, _combined(b, root, now, value), strict=True):
                b.assign(var, word)
        value = _finished(b, root, tuple(b.read(one) for one in total))
        ended(emission, root, last, place, value)
    return grid, size


def _reduced_together(
    emission: Emission, root: Tensor, last: Tensor, threads: int
) -> tuple[tuple[Shared, ...], tuple[int, int, int], int]:
    """A workgroup for one result: each invocation a part of the terms, then by halves."""
    b = emission.b
    terms = prod(root.args[0].shape[axis] for axis in root.params[1])
    size = min(threads, 256, 1 << max((terms - 1).bit_length() - 1, 0))
    grid = grid_of(root.size)
    place = group_number(b, grid)
    held = b.op("min", "u32", place, u32(root.size - 1)) if grid[1] > 1 else place
    kept = emission.places(Index(root.shape, flat=held))
    total = [b.var(word) for word in _neutral(root)]
    with b.loop(LOCAL, u32(terms), size) as term:
        value = _term(emission, root, kept, term)
        now = tuple(b.read(one) for one in total)
        for var, word in zip(total, _combined(b, root, now, value), strict=True):
            b.assign(var, word)
    shared = halved(emission, root, total, size, "part")
    first = b.op("eq", "bool", LOCAL, u32(0))
    if grid[1] > 1:
        first = b.op("and", "bool", first, b.op("lt", "bool", place, u32(root.size)))
    with b.when(first):
        value = _parts(b, root, shared, u32(0))
        ended(emission, root, last, place, _finished(b, root, value))
    return shared, grid, size


def _row(
    emission: Emission, row: Row, threads: int
) -> tuple[tuple[Shared, ...], tuple[int, int, int], int]:
    """A workgroup for one row: its sums one after the other, then its elements."""
    b = emission.b
    size = min(threads, 256, 1 << max((row.length - 1).bit_length() - 1, 0))
    count = prod(row.shape[: row.split])
    grid = grid_of(count)
    number = group_number(b, grid)
    place = b.op("min", "u32", number, u32(count - 1)) if grid[1] > 1 else number
    base = b.mul(place, row.length)
    shared: tuple[Shared, ...] = ()
    for turn, one in enumerate(row.sums):
        source = one.args[0]
        total = [b.var(word) for word in _neutral(one)]
        with b.loop(LOCAL, u32(row.length), size) as term:
            value = emission.at(source, Index(source.shape, flat=b.add(base, term)))
            if source.dtype.kind not in ("float", "bool"):
                value = converted(b, value, source.register, one.register)
            now = tuple(b.read(var) for var in total)
            for var, word in zip(total, _combined(b, one, now, value), strict=True):
                b.assign(var, word)
        parts = halved(emission, one, total, size, f"part{turn}_")
        emission.fixed[one.serial] = _finished(b, one, _parts(b, one, parts, u32(0)))
        shared += parts
    inside = b.op("lt", "bool", number, u32(count)) if grid[1] > 1 else truth(True)
    root = row.root
    if root.size == count:
        with b.when(b.op("and", "bool", inside, b.op("eq", "bool", LOCAL, u32(0)))):
            stored(b, root, place, emission.at(root, Index(root.shape, flat=place)))
    else:
        with b.when(inside), b.loop(LOCAL, u32(row.length), size) as term:
            at = b.add(base, term)
            stored(b, root, at, emission.at(root, Index(root.shape, flat=at)))
    return shared, grid, size


def _shared_type(x: Tensor) -> str:
    return "u32" if x.register in ("pair", "bool") else x.register


def _parts(b: Builder, root: Tensor, shared: tuple[Shared, ...], at: Atom) -> Value:
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
    total: list[Ref],
    size: int,
    name: str,
) -> tuple[Shared, ...]:
    """All invocations' totals combined into place 0 of the workgroup's memory."""
    b = emission.b
    shared = tuple(Shared(f"{name}{n}", _shared_type(root), size) for n in range(len(total)))
    _keep(b, root, shared, tuple(b.read(one) for one in total))
    b.barrier()
    with b.loop(u32(0), u32(size.bit_length() - 1)) as turn:
        half = b.op("shr", "u32", u32(size // 2), turn)
        with b.when(b.op("lt", "bool", LOCAL, half)):
            mine = _parts(b, root, shared, LOCAL)
            other = _parts(b, root, shared, b.add(LOCAL, half))
            _keep(b, root, shared, _combined(b, root, mine, other))
        b.barrier()
    return shared
