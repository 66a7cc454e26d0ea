"""Functions of float32, with the accuracy and special values that shader languages leave open.

Polynomials are those of S. L. Moshier's Cephes for single precision, unless a line says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from rlx.backends.shader.builder import f32, i32, u32
from rlx.backends.shader.floats import INF, LN2, Floats
from rlx.backends.shader.ir import Atom


class Functions(Floats):
    """Functions of one or two floats, and roundings."""

    def maximum(self, a: Atom, b: Atom) -> Atom:
        """The larger; NaN where one is."""
        keep = self.b.op("or", "bool", self.isnan(a), self.test("ge", a, b))
        return self.where(self.isnan(b), b, self.where(keep, a, b))

    def minimum(self, a: Atom, b: Atom) -> Atom:
        """The smaller; NaN where one is."""
        keep = self.b.op("or", "bool", self.isnan(a), self.test("le", a, b))
        return self.where(self.isnan(b), b, self.where(keep, a, b))

    def sign(self, x: Atom) -> Atom:
        """-1, 0 or 1, NaN for NaN; told by the bits, for the subnormal."""
        zero = self.b.op("eq", "bool", self.unsigned_bits(x), u32(0))
        one = self.copysign(f32(1.0), x)
        return self.or_nan(x, self.where(zero, 0.0, one))

    def log(self, x: Atom) -> Atom:
        """The natural logarithm; of the subnormal by their bits as integers."""
        size = self.unsigned_bits(x)
        small = self.b.op("lt", "bool", size, u32(0x00800000))
        whole = self.b.op("cast", "f32", size)
        found = self.where(
            small,
            self.sub(self.op("log", self.op("max", whole, 1.0)), 149 * LN2),
            self.op("log", self.where(small, 1.0, x)),
        )
        found = self.where(self.b.op("eq", "bool", size, u32(0)), -math.inf, found)
        found = self.where(self.b.op("eq", "bool", self.bits(x), u32(0x7F800000)), math.inf, found)
        negative = self.b.op("gt", "bool", self.bits(x), u32(0x80000000))
        return self.or_nan(x, self.where(negative, math.nan, found))

    def exp(self, x: Atom) -> Atom:
        """e to the power; infinities are kept."""
        found = self.op("exp", x)
        found = self.where(self.test("gt", x, 88.8), math.inf, found)
        return self.or_nan(x, self.where(self.test("lt", x, -104.0), 0.0, found))

    def expm1(self, x: Atom) -> Atom:
        """e to the power, less 1: a Taylor polynomial where that would cancel."""
        small = self.test("lt", self.op("abs", x), 0.35)
        terms = [1 / math.factorial(n) for n in range(8, 0, -1)]
        near = self.mul(x, self.horner(x, terms))
        return self.where(small, near, self.sub(self.exp(x), 1.0))

    def log1p(self, x: Atom) -> Atom:
        """log(1 + x): by the series of 2 atanh(x / (2 + x)) where 1 + x would cancel."""
        small = self.test("lt", self.op("abs", x), 0.5)
        s = self.div(x, self.add(x, 2.0))
        terms = [1 / n for n in range(15, 0, -2)]
        near = self.mul(self.mul(s, 2.0), self.horner(self.mul(s, s), terms))
        return self.where(small, near, self.log(self.add(x, 1.0)))

    def tanh(self, x: Atom) -> Atom:
        """expm1(2x) / (expm1(2x) + 2)."""
        size = self.op("abs", x)
        grown = self.expm1(self.mul(self.op("min", size, 10.0), 2.0))
        return self.or_nan(x, self.copysign(self.div(grown, self.add(grown, 2.0)), x))

    def sinh(self, x: Atom) -> Atom:
        """Half the difference of e^x and e^-x."""
        size = self.op("abs", x)
        grown = self.expm1(self.op("min", size, 9.0))
        near = self.mul(self.add(grown, self.div(grown, self.add(grown, 1.0))), 0.5)
        far = self.exp(self.sub(size, LN2))
        found = self.where(self.test("lt", size, 9.0), near, far)
        return self.or_nan(x, self.copysign(found, x))

    def cosh(self, x: Atom) -> Atom:
        """Half the sum of e^x and e^-x."""
        half = self.exp(self.sub(self.op("abs", x), LN2))
        return self.or_nan(x, self.add(half, self.div(0.25, half)))

    def asinh(self, x: Atom) -> Atom:
        """log(x + sqrt(x² + 1))."""
        size = self.op("abs", x)
        a = self.op("min", size, 1e9)
        square = self.mul(a, a)
        root = self.op("sqrt", self.add(square, 1.0))
        near = self.log1p(self.add(a, self.div(square, self.add(root, 1.0))))
        far = self.add(self.log(size), LN2)
        found = self.where(self.test("gt", size, 1e9), far, near)
        return self.or_nan(x, self.copysign(found, x))

    def acosh(self, x: Atom) -> Atom:
        """log(x + sqrt(x² - 1)); NaN below 1."""
        t = self.sub(self.op("min", x, 1e9), 1.0)
        root = self.op("sqrt", self.op("max", self.add(self.mul(t, 2.0), self.mul(t, t)), 0.0))
        near = self.log1p(self.add(t, root))
        found = self.where(self.test("gt", x, 1e9), self.add(self.log(x), LN2), near)
        return self.or_nan(x, self.where(self.test("lt", x, 1.0), math.nan, found))

    def atanh(self, x: Atom) -> Atom:
        """Half of log((1 + x) / (1 - x)); NaN beyond 1."""
        size = self.op("abs", x)
        inner = self.div(self.mul(size, 2.0), self.sub(1.0, size))
        found = self.mul(self.log1p(inner), 0.5)
        found = self.where(self.test("eq", size, 1.0), math.inf, found)
        found = self.where(self.test("gt", size, 1.0), math.nan, found)
        return self.or_nan(x, self.copysign_or_nan(found, x))

    def copysign_or_nan(self, size: Atom, sign: Atom) -> Atom:
        """As copysign; NaN stays."""
        return self.where(self.isnan(size), size, self.copysign(size, sign))

    def _asin_near(self, x: Atom) -> Atom:
        z = self.mul(x, x)
        terms = (
            4.2163199048e-2,
            2.4181311049e-2,
            4.5470025998e-2,
            7.4953002686e-2,
            1.6666752422e-1,
        )
        return self.add(self.mul(self.mul(self.horner(z, terms), z), x), x)

    def _half_root(self, size: Atom) -> Atom:
        return self.op("sqrt", self.op("max", self.mul(self.sub(1.0, size), 0.5), 0.0))

    def asin(self, x: Atom) -> Atom:
        """The arcsine; NaN beyond 1."""
        size = self.op("abs", x)
        inner = self.test("le", size, 0.5)
        near = self._asin_near(self.where(inner, size, self._half_root(size)))
        found = self.where(inner, near, self.sub(math.pi / 2, self.mul(near, 2.0)))
        found = self.where(self.test("gt", size, 1.0), math.nan, found)
        return self.or_nan(x, self.copysign_or_nan(found, x))

    def acos(self, x: Atom) -> Atom:
        """The arccosine; NaN beyond 1."""
        size = self.op("abs", x)
        inner = self.test("le", size, 0.5)
        near = self._asin_near(self.where(inner, x, self._half_root(size)))
        twice = self.mul(near, 2.0)
        far = self.where(self.test("lt", x, 0.0), self.sub(math.pi, twice), twice)
        found = self.where(inner, self.sub(math.pi / 2, near), far)
        return self.or_nan(x, self.where(self.test("gt", size, 1.0), math.nan, found))

    def atan(self, x: Atom) -> Atom:
        """The arctangent."""
        size = self.op("abs", x)
        far, middle = self.test("gt", size, 2.414213562), self.test("gt", size, 0.414213562)
        turned = self.where(
            far,
            self.div(-1.0, self.where(far, size, 1.0)),
            self.where(middle, self.div(self.sub(size, 1.0), self.add(size, 1.0)), size),
        )
        base = self.where(far, math.pi / 2, self.where(middle, math.pi / 4, 0.0))
        z = self.mul(turned, turned)
        terms = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)
        near = self.add(self.mul(self.mul(self.horner(z, terms), z), turned), turned)
        return self.or_nan(x, self.copysign(self.add(base, near), x))

    def pow(self, x: Atom, y: Atom) -> Atom:
        """The power, with C's special values."""
        size = self.b.op("bits", "f32", self.unsigned_bits(x))  # abs may take subnormals as 0
        off = self.sub(size, 1.0)  # exact near 1, where the logarithm of a sum is not
        near = self.test("lt", self.op("abs", off), 0.5)
        grown = self.exp(self.mul(y, self.where(near, self.log1p(off), self.log(size))))
        grown = self.where(self.test("eq", size, 1.0), 1.0, grown)
        whole = self.test("eq", self.op("floor", y), y)
        half = self.mul(y, 0.5)
        odd = self.b.op("and", "bool", whole, self.test("ne", self.op("floor", half), half))
        negative = self.b.op("ge", "bool", self.bits(x), u32(0x80000000))
        turned = self.where(odd, self.op("neg", grown), grown)
        lost = self.b.op("and", "bool", self.test("lt", x, 0.0), self.b.op("not", "bool", whole))
        lost = self.b.op("and", "bool", lost, self.isfinite(x))
        found = self.where(negative, turned, grown)
        found = self.where(lost, math.nan, found)
        found = self.or_nan(x, self.or_nan(y, found))
        found = self.where(self.test("eq", x, 1.0), 1.0, found)
        return self.where(self.test("eq", y, 0.0), 1.0, found)

    def fmod(self, x: Atom, y: Atom) -> Atom:
        """What is left of a division rounded toward zero, exact: by whole numbers, as in school.

        Eight binary digits of the quotient at a time; what is left always fits into 24.
        """
        top, bottom = self.unsigned_bits(x), self.unsigned_bits(y)
        (first, ten), (second, five) = self._whole(top), self._whole(bottom)
        second = self.b.op("max", "u32", second, u32(1))
        less = self.b.op("lt", "bool", top, bottom)
        digits = self.b.op("select", "u32", less, u32(0), self.b.op("sub", "u32", ten, five))
        rest = self.b.op("rem", "u32", first, second)
        rest = self.b.op("shl", "u32", rest, self.b.op("and", "u32", digits, u32(7)))
        left = self.b.var(self.b.op("rem", "u32", rest, second))
        with self.b.loop(u32(0), self.b.op("shr", "u32", digits, u32(3))):
            longer = self.b.op("shl", "u32", self.b.read(left), u32(8))
            self.b.assign(left, self.b.op("rem", "u32", longer, second))
        unit = self.b.op("bits", "f32", self.b.op("shl", "u32", five, u32(23)))
        found = self.b.op("cast", "f32", self.b.read(left))
        found = self.copysign(self.mul(self.mul(found, 2.0**-23), unit), x)
        found = self.where(less, x, found)
        lost = self.b.op("eq", "bool", bottom, u32(0))
        lost = self.b.op("or", "bool", lost, self.b.op("not", "bool", self.isfinite(x)))
        return self.or_nan(y, self.where(lost, math.nan, found))

    def _whole(self, size: Atom) -> tuple[Atom, Atom]:
        """A number without sign, by its bits: an integer, and its exponent, which is at least 1."""
        exponent = self.b.op("shr", "u32", size, u32(23))
        digits = self.b.op("and", "u32", size, u32(0x007FFFFF))
        normal = self.b.op("ne", "bool", exponent, u32(0))
        whole = self.b.op("or", "u32", digits, u32(0x00800000))
        return (
            self.b.op("select", "u32", normal, whole, digits),
            self.b.op("max", "u32", exponent, u32(1)),
        )

    def remainder(self, x: Atom, y: Atom) -> Atom:
        """What is left of a division rounded down; its sign is the divisor's."""
        rest = self.fmod(x, y)
        apart = self.b.op("ne", "bool", self.test("lt", rest, 0.0), self.test("lt", y, 0.0))
        turned = self.b.op("and", "bool", self.test("ne", rest, 0.0), apart)
        return self.where(turned, self.add(rest, y), rest)

    def rounded_bfloat16(self, x: Atom) -> Atom:
        """To the nearest bfloat16, halves to even."""
        bits = self.bits(x)
        odd = self.b.op("and", "u32", self.b.op("shr", "u32", bits, u32(16)), u32(1))
        grown = self.b.op("add", "u32", self.b.op("add", "u32", bits, u32(0x7FFF)), odd)
        made = self.b.op("bits", "f32", self.b.op("and", "u32", grown, u32(0xFFFF0000)))
        return self.or_nan(x, made)

    def rounded_float16(self, x: Atom) -> Atom:
        """To the nearest float16, halves to even: beyond its range infinite, below it in steps."""
        bits, size = self.bits(x), self.unsigned_bits(x)
        odd = self.b.op("and", "u32", self.b.op("shr", "u32", bits, u32(13)), u32(1))
        grown = self.b.op("add", "u32", self.b.op("add", "u32", bits, u32(0xFFF)), odd)
        normal = self.b.op("bits", "f32", self.b.op("and", "u32", grown, u32(0xFFFFE000)))
        steps = self.op("round", self.mul(self.op("abs", x), 2.0**24))
        fine = self.copysign(self.mul(steps, 2.0**-24), x)
        made = self.where(self.b.op("lt", "bool", size, u32(0x38800000)), fine, normal)
        huge = self.b.op("ge", "bool", size, u32(0x477FF000))
        made = self.where(huge, self.copysign(INF, x), made)
        return self.or_nan(x, made)

    def sin(self, x: Atom) -> Atom:
        """The sine."""
        return self._circular(x, 0)

    def cos(self, x: Atom) -> Atom:
        """The cosine."""
        return self._circular(x, 1)

    def tan(self, x: Atom) -> Atom:
        """The tangent."""
        return self.div(self.sin(x), self.cos(x))

    def _circular(self, x: Atom, quarter: int) -> Atom:
        from rlx.backends.shader.angles import reduced  # which is made of these functions

        angle, turns = reduced(self, x)
        place = self.b.op("add", "i32", turns, i32(quarter))
        z = self.mul(angle, angle)
        sine = self.horner(z, (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1))
        sine = self.add(self.mul(self.mul(sine, z), angle), angle)
        cosine = self.horner(z, (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2))
        cosine = self.add(self.sub(self.mul(self.mul(cosine, z), z), self.mul(z, 0.5)), 1.0)
        odd = self.b.op("ne", "bool", self.b.op("and", "i32", place, i32(1)), i32(0))
        found = self.where(odd, cosine, sine)
        below = self.b.op("ne", "bool", self.b.op("and", "i32", place, i32(2)), i32(0))
        found = self.where(below, self.op("neg", found), found)
        return self.where(self.isfinite(x), found, math.nan)


UNARY: dict[str, Callable[[Functions, Atom], Atom]] = {
    name: getattr(Functions, name)
    for name in (
        *("log", "exp", "expm1", "log1p", "tanh", "sinh", "cosh", "asinh", "acosh", "atanh"),
        *("asin", "acos", "atan", "sin", "cos", "tan", "sign"),
    )
}
