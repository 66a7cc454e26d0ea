"""Float arithmetic in code that reads as such, and what the bits of a float tell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rlx.backends.shader.builder import Builder, f32, u32
from rlx.backends.shader.ir import Atom

NAN, INF = f32(math.nan), f32(math.inf)
LN2 = math.log(2.0)


class Floats:
    """Float arithmetic on one builder, so that formulas read as such."""

    def __init__(self, builder: Builder):
        self.b = builder

    def op(self, name: str, *args: Atom | float) -> Atom:
        """A float from floats; Python's are literals."""
        return self.b.op(name, "f32", *(self.lit(one) for one in args))

    def test(self, name: str, *args: Atom | float) -> Atom:
        """A truth from floats."""
        return self.b.op(name, "bool", *(self.lit(one) for one in args))

    @staticmethod
    def lit(one: Atom | float) -> Atom:
        """A number as a literal; what has a name as it is."""
        return f32(float(one)) if isinstance(one, int | float) else one

    def where(self, condition: Atom, a: Atom | float, b: Atom | float) -> Atom:
        """a where the condition holds, else b."""
        return self.b.op("select", "f32", condition, self.lit(a), self.lit(b))

    def add(self, a: Atom | float, b: Atom | float) -> Atom:
        """The sum."""
        return self.op("add", a, b)

    def sub(self, a: Atom | float, b: Atom | float) -> Atom:
        """The difference."""
        return self.op("sub", a, b)

    def mul(self, a: Atom | float, b: Atom | float) -> Atom:
        """The product."""
        return self.op("mul", a, b)

    def div(self, a: Atom | float, b: Atom | float) -> Atom:
        """The quotient."""
        return self.op("div", a, b)

    def horner(self, x: Atom, coefficients: Sequence[float]) -> Atom:
        """A polynomial, highest power first."""
        total: Atom = f32(coefficients[0])
        for one in coefficients[1:]:
            total = self.add(self.mul(total, x), one)
        return total

    def bits(self, x: Atom) -> Atom:
        """The bits of a float."""
        return self.b.op("bits", "u32", x)

    def unsigned_bits(self, x: Atom) -> Atom:
        """The bits of a float but for its sign: in the order of its size, NaN on top."""
        return self.b.op("and", "u32", self.bits(x), u32(0x7FFFFFFF))

    def isnan(self, x: Atom) -> Atom:
        """Whether it is NaN, told by its bits: compilers may take it that none is."""
        return self.b.op("gt", "bool", self.unsigned_bits(x), u32(0x7F800000))

    def isinf(self, x: Atom) -> Atom:
        """Whether it is infinite."""
        return self.b.op("eq", "bool", self.unsigned_bits(x), u32(0x7F800000))

    def isfinite(self, x: Atom) -> Atom:
        """Whether it is neither NaN nor infinite."""
        return self.b.op("lt", "bool", self.unsigned_bits(x), u32(0x7F800000))

    def copysign(self, size: Atom, sign: Atom) -> Atom:
        """The first number with the second's sign; not put together from bits, which Mesa 22.3
        gets wrong among other arithmetic.
        """
        plain = self.op("abs", size)
        negative = self.b.op("ge", "bool", self.bits(sign), u32(0x80000000))
        return self.where(negative, self.op("neg", plain), plain)

    def or_nan(self, x: Atom, result: Atom) -> Atom:
        """The result, but NaN for NaN."""
        return self.where(self.isnan(x), x, result)
