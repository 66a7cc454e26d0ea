"""What devices get wrong that take subnormal numbers as 0, or round quotients loosely."""

from __future__ import annotations

from collections.abc import Callable

from rlx.backends.shader.builder import i32, u32
from rlx.backends.shader.floats import Floats
from rlx.backends.shader.ir import Atom


class Mending(Floats):
    """Comparisons, products and quotients as IEEE 754 has them."""

    def order(self, x: Atom) -> Atom:
        """An integer that is in the order of the numbers; both zeros are 0."""
        size = self.b.op("bits", "i32", self.unsigned_bits(x))
        negative = self.b.op("ge", "bool", self.bits(x), u32(0x80000000))
        return self.b.op("select", "i32", negative, self.b.op("sub", "i32", i32(0), size), size)

    def compared(self, name: str, a: Atom, b: Atom) -> Atom:
        """A comparison by the bits; NaN differs from all."""
        found = self.b.op(name, "bool", self.order(a), self.order(b))
        lost = self.b.op("or", "bool", self.isnan(a), self.isnan(b))
        if name == "ne":
            return self.b.op("or", "bool", found, lost)
        return self.b.op("and", "bool", found, self.b.op("not", "bool", lost))

    def _is_fine(self, x: Atom) -> Atom:
        """Whether a number is subnormal, and not 0."""
        below = self.b.op("sub", "u32", self.unsigned_bits(x), u32(1))
        return self.b.op("lt", "bool", below, u32(0x007FFFFF))

    def _raised(self, x: Atom) -> tuple[Atom, Atom]:
        """2^24 times the number where it is subnormal, by its bits; and what undoes that."""
        fine = self._is_fine(x)
        number = self.mul(self.b.op("cast", "f32", self.unsigned_bits(x)), 2.0**-125)
        negative = self.b.op("ge", "bool", self.bits(x), u32(0x80000000))
        number = self.where(negative, self.op("neg", number), number)
        return self.where(fine, number, x), self.where(fine, 2.0**-24, 1.0)

    def _mended(self, rarely: Atom, usual: Atom, other: Callable[[], Atom]) -> Atom:
        """What is usual, but where a condition holds something dearer."""
        found = self.b.var(usual)
        with self.b.when(rarely):
            self.b.assign(found, other())
        return self.b.read(found)

    def product(self, a: Atom, b: Atom) -> Atom:
        """a b, where one may be subnormal."""

        def scaled() -> Atom:
            (first, down), (second, lower) = self._raised(a), self._raised(b)
            return self.mul(self.mul(self.mul(first, second), down), lower)

        rarely = self.b.op("or", "bool", self._is_fine(a), self._is_fine(b))
        return self._mended(rarely, self.mul(a, b), scaled)

    def _divided(self, a: Atom, b: Atom) -> Atom:
        """a / b, rounded once more by what is left of the division."""
        found = self.div(a, b)
        rest = self.op("fma", self.op("neg", found), b, a)
        better = self.add(found, self.div(rest, b))
        return self.where(self.isfinite(better), better, found)

    def quotient(self, a: Atom, b: Atom) -> Atom:
        """a / b, where one may be subnormal, or the reciprocal of b."""
        huge = self.b.op("ge", "bool", self.unsigned_bits(b), u32(0x7D000000))
        huge = self.b.op("and", "bool", huge, self.isfinite(b))

        def scaled() -> Atom:
            (top, down), (bottom, _) = self._raised(a), self._raised(b)
            bottom = self.where(huge, self.mul(bottom, 2.0**-24), bottom)
            found = self.mul(self._divided(top, bottom), down)
            found = self.where(self._is_fine(b), self.mul(found, 2.0**24), found)
            return self.where(huge, self.mul(found, 2.0**-24), found)

        rarely = self.b.op("or", "bool", self._is_fine(a), self._is_fine(b))
        rarely = self.b.op("or", "bool", rarely, huge)
        return self._mended(rarely, self._divided(a, b), scaled)
