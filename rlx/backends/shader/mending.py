"""What devices get wrong that take subnormal numbers as 0, or round quotients loosely.

Integers are exact on all of them, so the bits of numbers say what their floats do not.
"""

from __future__ import annotations

from collections.abc import Callable

from rlx.backends.shader.builder import f32, i32, u32
from rlx.backends.shader.floats import Floats
from rlx.backends.shader.ir import Atom

REFINED = "refined"
"""Among what a device gets wrong: quotients, which are right once they are rounded again."""


class Mending(Floats):
    """Comparisons, products, quotients and whole numbers as IEEE 754 has them."""

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

    def quotient(self, a: Atom, b: Atom) -> Atom:
        """a / b, by whole numbers: neither division nor `fma` need be exact on a device.

        The device's quotient of the digits is at most a few units off. What is left of the
        dividend then says how many, and fits into 32 bits whatever was cut off above them.
        """
        (first, above), (second, below) = self._digits(a), self._digits(b)
        short = self.b.op("lt", "bool", first, second)
        places = self.b.op("select", "u32", short, u32(24), u32(23))
        guess = self.mul(
            self.div(self._of_digits(first), self._of_digits(second)),
            self.where(short, 2.0**24, 2.0**23),
        )
        near = self.b.op("cast", "u32", guess)
        exact = self.b.op("shl", "u32", first, places)
        left = self.b.op("sub", "u32", exact, self.b.op("mul", "u32", near, second))
        # the nearest whole number of divisors in what is left, counted from 8 below: floor of + 1/2
        twice = self.b.op("shl", "u32", second, u32(1))
        halves = self.b.op("add", "u32", self.b.op("shl", "u32", left, u32(1)), second)
        halves = self.b.op("add", "u32", halves, self.b.op("mul", "u32", twice, u32(8)))
        off = self.b.op("sub", "u32", self.b.op("div", "u32", halves, twice), u32(8))
        found = self.b.op("add", "u32", near, off)
        tied = self.b.op("eq", "bool", self.b.op("rem", "u32", halves, twice), u32(0))
        odd = self.b.op("and", "u32", found, u32(1))
        found = self.b.op("sub", "u32", found, self.b.op("select", "u32", tied, odd, u32(0)))
        number = self.mul(self.b.op("cast", "f32", found), self.where(short, 2.0**-24, 2.0**-23))
        number = self._scaled(number, self.b.op("sub", "i32", above, below))
        turned = self.b.op("ge", "bool", self._signs(a, b), u32(0x80000000))
        number = self.where(turned, self.op("neg", number), number)
        plain = self.b.op("and", "bool", self._is_plain(a), self._is_plain(b))
        return self.where(plain, number, self.div(self._not_fine(a), self._not_fine(b)))

    def refined(self, a: Atom, b: Atom) -> Atom:
        """a / b by the reciprocal, and rounded once more by what is left of the division.

        For devices whose `fma` is exact. Of a divisor whose reciprocal is subnormal it takes a
        part, which is undone.
        """
        huge = self.b.op("ge", "bool", self.unsigned_bits(b), u32(0x7D000000))
        down = self.where(huge, 2.0**-24, 1.0)
        bottom = self.mul(b, down)
        over = self.div(1.0, bottom)
        found = self.mul(a, over)
        rest = self.op("fma", self.op("neg", found), bottom, a)
        better = self.op("fma", rest, over, found)
        return self.mul(self.where(self.isfinite(better), better, found), down)

    def floor(self, x: Atom) -> Atom:
        """Rounded down: a subnormal number below 0 to -1."""
        low = self.b.op("gt", "bool", self.bits(x), u32(0x80000000))
        low = self.b.op("and", "bool", low, self._is_fine(x))
        return self.where(low, -1.0, self.op("floor", x))

    def ceil(self, x: Atom) -> Atom:
        """Rounded up: a subnormal number above 0 to 1."""
        high = self.b.op("lt", "bool", self.bits(x), u32(0x80000000))
        high = self.b.op("and", "bool", high, self._is_fine(x))
        return self.where(high, 1.0, self.op("ceil", x))

    def _digits(self, x: Atom) -> tuple[Atom, Atom]:
        """The 24 digits of a number that is neither 0 nor special, and its exponent."""
        fine = self._is_fine(x)
        size = self.unsigned_bits(x)
        raised = self.b.op("bits", "u32", self.b.op("cast", "f32", size))
        held = self.b.op("select", "u32", fine, raised, size)
        exponent = self.b.op("bits", "i32", self.b.op("shr", "u32", held, u32(23)))
        down = self.b.op("select", "i32", fine, i32(149), i32(0))
        digits = self.b.op("and", "u32", held, u32(0x007FFFFF))
        return (
            self.b.op("or", "u32", digits, u32(0x00800000)),
            self.b.op("sub", "i32", exponent, down),
        )

    def _of_digits(self, digits: Atom) -> Atom:
        """24 digits as a number from 1 to 2."""
        return self.b.op("bits", "f32", self.b.op("add", "u32", digits, u32(0x3F000000)))

    def _scaled(self, x: Atom, exponent: Atom) -> Atom:
        """A number from 1/2 to 2 times a power of 2, which may be no float."""
        held = self.b.op("min", "i32", self.b.op("max", "i32", exponent, i32(-252)), i32(252))
        half = self.b.op("shr", "i32", held, u32(1))
        for one in (half, self.b.op("sub", "i32", held, half)):
            biased = self.b.op("bits", "u32", self.b.op("add", "i32", one, i32(127)))
            power = self.b.op("bits", "f32", self.b.op("shl", "u32", biased, u32(23)))
            x = self.mul(x, power)
        return x

    def _signs(self, a: Atom, b: Atom) -> Atom:
        return self.b.op("xor", "u32", self.bits(a), self.bits(b))

    def _is_plain(self, x: Atom) -> Atom:
        """Whether it is neither 0 nor infinite nor NaN."""
        below = self.b.op("sub", "u32", self.unsigned_bits(x), u32(1))
        return self.b.op("lt", "bool", below, u32(0x7F800000 - 1))

    def _not_fine(self, x: Atom) -> Atom:
        """The number, but one of its sign where it is subnormal."""
        return self.where(self._is_fine(x), self.copysign(f32(1.0), x), x)
