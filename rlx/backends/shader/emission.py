"""Elements of lazy arrays at an index, as code: what is between memory and result is inlined."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from rlx.backends.shader.builder import Builder, u32
from rlx.backends.shader.ir import Buffer
from rlx.backends.shader.scalars import computed
from rlx.backends.shader.values import Value, converted, literal

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from rlx.backends.shader.ir import Atom
    from rlx.backends.shader.tensor import Shape, Tensor


@dataclass(frozen=True, slots=True)
class Index:
    """A place in an array: by its number in row-major order, or by axis."""

    shape: Shape
    flat: Atom | None = None
    places: tuple[Atom, ...] | None = None


def strides_of(shape: Shape) -> Shape:
    """How many elements apart neighbours along each axis are."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


class Mixed(Exception):
    """An array is read by fours and at other places too; it has this serial."""

    def __init__(self, serial: int):
        super().__init__(serial)
        self.serial = serial


class Emission:
    """The kernel that is being written: its code, and the memory that it reads.

    Places that are known as one of four neighbours, the first of which is a multiple of 4, are read
    by fours where they stay so on the way to memory: one instruction reads them all.
    """

    def __init__(
        self,
        there: Container[int],
        *,
        single: Container[int] = frozenset(),
        loose: Container[str] = (),
    ):
        """`there` has the serials of the arrays that are in memory, `single` of those among them
        that are not read by fours.
        """
        self.b = Builder(loose)
        self.there = there
        self.single = single
        self.lanes: dict[Atom, tuple[Atom, int]] = {}
        """Places known as one of four: the number of the four, and which."""
        self.fixed: dict[int, Value] = {}
        """Elements that are in registers, whatever the index: a row's sums, a product's own."""
        self.read: dict[int, Buffer] = {}
        """The buffers of the arrays that are read, by serial, in the order of the first reading."""

    def flat(self, index: Index) -> Atom:
        """The number of the place."""
        if index.flat is not None:
            return index.flat
        assert index.places is not None
        steps = [
            (place, stride)
            for place, size, stride in zip(
                index.places, index.shape, strides_of(index.shape), strict=True
            )
            if size > 1
        ]
        if steps and steps[-1][0] in self.lanes and all(by % 4 == 0 for _, by in steps[:-1]):
            quarter, lane = self.lanes[steps[-1][0]]
            return self.one_of(self._total([(at, by // 4) for at, by in steps[:-1]], quarter), lane)
        return self._total(steps)

    def _total(self, steps: Sequence[tuple[Atom, int]], last: Atom | None = None) -> Atom:
        total: Atom = u32(0)
        for place, stride in steps:
            total = self.b.add(total, self.b.mul(place, stride))
        return total if last is None else self.b.add(total, last)

    def one_of(self, quarter: Atom, lane: int) -> Atom:
        """The place of one of four neighbours."""
        place = self.b.add(self.b.mul(quarter, 4), u32(lane))
        self.lanes[place] = (quarter, lane)
        return place

    def div(self, place: Atom, by: int) -> Atom:
        """The quotient; the same one for neighbours."""
        if place in self.lanes and by % 4 == 0:
            return self.b.div(self.lanes[place][0], by // 4)
        return self.b.div(place, by)

    def mod(self, place: Atom, by: int) -> Atom:
        """The rest; neighbours stay neighbours."""
        if place in self.lanes and by % 4 == 0:
            quarter, lane = self.lanes[place]
            return self.one_of(self.b.mod(quarter, by // 4), lane)
        return self.b.mod(place, by)

    def places(self, index: Index) -> tuple[Atom, ...]:
        """The place by axis."""
        if index.places is not None:
            return index.places
        assert index.flat is not None
        found: list[Atom] = []
        for axis, (size, stride) in enumerate(
            zip(index.shape, strides_of(index.shape), strict=True)
        ):
            if size == 1:
                found.append(u32(0))
                continue
            part = self.div(index.flat, stride)
            first = prod(index.shape[:axis]) == 1
            found.append(part if first else self.mod(part, size))
        return tuple(found)

    def at(self, x: Tensor, index: Index) -> Value:
        """The element of an array at a place."""
        if x.serial in self.fixed:
            return self.fixed[x.serial]
        if x.serial in self.there:
            return self.loaded(x, self.flat(index))
        if x.op == "host":
            assert x.host is not None
            return literal(x.host.reshape(-1)[0].item() if x.host.size else 0, x.register)
        return getattr(self, f"_{x.op}")(x, index)  # type: ignore[no-any-return]

    def loaded(self, x: Tensor, flat: Atom) -> Value:
        """An element that is in memory, from its word, or words."""
        kind = x.dtype.register if x.dtype.words == 1 else "u32"
        kind = "u32" if kind == "bool" else kind
        fours = flat in self.lanes and x.serial not in self.single
        fours = fours and x.dtype.words == 1 and x.size % 4 == 0
        # named by order, so that programs that are the same have the same text
        buffer = self.read.setdefault(
            x.serial, Buffer(f"in{len(self.read)}", f"{kind}x4" if fours else kind, False)
        )
        name = buffer.name
        if fours != buffer.type.endswith("x4"):
            raise Mixed(x.serial)
        if x.dtype.words == 1:
            word = self._one(name, kind, flat) if fours else self.b.load(name, kind, flat)
            if x.dtype.kind == "bool":
                return (self.b.op("ne", "bool", word, u32(0)),)
            return (word,)
        low = self.b.load(name, "u32", self.b.mul(flat, 2))
        if x.register == "pair":
            return low, self.b.load(name, "u32", self.b.add(self.b.mul(flat, 2), u32(1)))
        return (self.b.op("bits", "i32", low) if x.register == "i32" else low,)

    def _one(self, name: str, kind: str, flat: Atom) -> Atom:
        quarter, lane = self.lanes[flat]
        four = self.b.load(name, f"{kind}x4", quarter)
        return self.b.op("lane", kind, four, target="xyzw"[lane])

    # One method for each operation.

    def _map(self, x: Tensor, index: Index) -> Value:
        return computed(self.b, x, [self.at(arg, index) for arg in x.args])

    def _reshape(self, x: Tensor, index: Index) -> Value:
        return self.at(x.args[0], Index(x.args[0].shape, flat=self.flat(index)))

    def _permute(self, x: Tensor, index: Index) -> Value:
        places = self.places(index)
        turned: list[Atom] = [u32(0)] * len(places)
        for place, axis in zip(places, x.params, strict=True):
            turned[axis] = place
        return self.at(x.args[0], Index(x.args[0].shape, places=tuple(turned)))

    def _expand(self, x: Tensor, index: Index) -> Value:
        source = x.args[0].shape
        if prod(source) == 1:
            return self.at(x.args[0], Index(source, flat=u32(0)))
        lead = next(n for n, size in enumerate(source) if size != 1)
        if source[lead:] == x.shape[lead:]:
            flat = self.flat(index)
            if prod(x.shape[:lead]) > 1:
                flat = self.mod(flat, prod(source))
            return self.at(x.args[0], Index(source, flat=flat))
        places = tuple(
            u32(0) if size == 1 else place
            for size, place in zip(source, self.places(index), strict=True)
        )
        return self.at(x.args[0], Index(source, places=places))

    def _slice(self, x: Tensor, index: Index) -> Value:
        starts, steps = x.params
        places = []
        for place, start, step in zip(self.places(index), starts, steps, strict=True):
            if step == 1 and place in self.lanes and start % 4 == 0:
                quarter, lane = self.lanes[place]
                places.append(self.one_of(self.b.add(quarter, u32(start // 4)), lane))
            elif step > 0:
                places.append(self.b.add(self.b.mul(place, step), u32(start)))
            else:
                places.append(self.b.op("sub", "u32", u32(start), self.b.mul(place, -step)))
        return self.at(x.args[0], Index(x.args[0].shape, places=tuple(places)))

    def _pad(self, x: Tensor, index: Index) -> Value:
        before, value = x.params
        source = x.args[0]
        inside = None
        places = []
        for place, edge, size, full in zip(
            self.places(index), before, source.shape, x.shape, strict=True
        ):
            if size == full:
                places.append(place)
                continue
            moved = self.b.op("sub", "u32", place, u32(edge))
            fits = self.b.op("lt", "bool", moved, u32(size))
            places.append(self.b.op("select", "u32", fits, moved, u32(0)))
            inside = fits if inside is None else self.b.op("and", "bool", inside, fits)
        assert inside is not None
        filler = literal(value, x.register)
        if not source.size:
            return filler
        found = self._as(self.at(source, Index(source.shape, places=tuple(places))), source, x)
        return self._chosen(inside, found, filler, x)

    def _unfold(self, x: Tensor, index: Index) -> Value:
        strides, dilations = x.params
        source = x.args[0]
        lead = source.ndim - len(strides)
        places = self.places(index)
        found = list(places[:lead])
        for axis, (stride, dilation) in enumerate(zip(strides, dilations, strict=True)):
            tap, place = places[lead + axis], places[lead + len(strides) + axis]
            found.append(self.b.add(self.b.mul(place, stride), self.b.mul(tap, dilation)))
        return self.at(source, Index(source.shape, places=tuple(found)))

    def _concat(self, x: Tensor, index: Index) -> Value:
        axis = x.params[0]
        places = self.places(index)
        start = 0
        found: Value | None = None
        for part in x.args:
            size = part.shape[axis]
            moved = self.b.op("sub", "u32", places[axis], u32(start))
            fits = self.b.op("lt", "bool", moved, u32(size))
            held = self.b.op("select", "u32", fits, moved, u32(0))
            here = (*places[:axis], held, *places[axis + 1 :])
            value = self._as(self.at(part, Index(part.shape, places=here)), part, x)
            found = value if found is None else self._chosen(fits, value, found, x)
            start += size
        assert found is not None
        return found

    def _pick(self, x: Tensor, index: Index) -> Value:
        source, at = x.args
        place = self.at(at, index)
        low = place[0] if at.register == "pair" else self.b.op("bits", "u32", place[0])
        if at.register == "u32":
            low = place[0]
        return self.at(source, Index(source.shape, flat=low))

    def _as(self, value: Value, source: Tensor, target: Tensor) -> Value:
        if source.dtype.words == 1:
            return value
        return converted(self.b, value, source.register, target.register)

    def _chosen(self, condition: Atom, value: Value, other: Value, x: Tensor) -> Value:
        kind = "u32" if x.register == "pair" else x.register
        return tuple(
            self.b.op("select", kind, condition, one, two)
            for one, two in zip(value, other, strict=True)
        )
