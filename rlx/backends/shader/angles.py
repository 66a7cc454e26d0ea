"""Angles brought between -π/4 and π/4, however large: by the bits of 2/π, after Payne and Hanek."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.shader.builder import i32, u32
from rlx.backends.shader.pairs import wide_product

if TYPE_CHECKING:
    from rlx.backends.shader.floats import Floats
    from rlx.backends.shader.ir import Atom

_TWO_OVER_PI = (0x00000000, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041)
"""The bits of 2/π after the point, 32 a word, after a word of zeros."""
_PARTS = (1.5703125, 4.837512969970703e-4, 7.549789948768648e-8)
"""π/2 in three parts, whose products with small integers are exact."""


def reduced(f: Floats, x: Atom) -> tuple[Atom, Atom]:
    """The angle less a number of quarter turns, and that number, modulo 4 where it is large."""
    b = f.b
    turns = f.op("round", f.mul(x, 0.6366197723675814))
    near = x
    for part in _PARTS:
        near = f.sub(near, f.mul(turns, part))
    far, quarters = _far(f, x)
    large = f.test("gt", f.op("abs", x), 2048.0)
    small = f.where(large, 0.0, turns)
    count = b.op("select", "i32", large, quarters, b.op("cast", "i32", small))
    return f.where(large, far, near), count


def _far(f: Floats, x: Atom) -> tuple[Atom, Atom]:
    """For 2^11 and above: the mantissa times those bits of 2/π that can matter.

    x = m 2^e with a 24-bit m: the product's bits above 4 quarter turns are not computed, and those
    far below one neither.
    """
    b = f.b
    bits = f.unsigned_bits(x)
    exponent = b.op("shr", "u32", bits, u32(23))
    exponent = b.op("select", "u32", b.op("lt", "bool", exponent, u32(128)), u32(128), exponent)
    mantissa = b.op("or", "u32", b.op("and", "u32", bits, u32(0x7FFFFF)), u32(0x800000))
    mantissa = b.op("shl", "u32", mantissa, u32(8))  # x = mantissa 2^(exponent - 127 - 31)
    # so many of the words' bits are skipped that 2 whole bits of the product stay
    skip = b.op("sub", "u32", exponent, u32(128))
    word = b.op("shr", "u32", skip, u32(5))
    by = b.op("and", "u32", skip, u32(31))
    words = [_word(f, word, offset) for offset in range(4)]
    top, middle, low = (_joined(f, words[n], words[n + 1], by) for n in range(3))
    # the low 64 bits of mantissa * (top, middle, low), less its last word
    carry = wide_product(b, mantissa, low)[1]
    centre = wide_product(b, mantissa, middle)
    second = b.op("add", "u32", centre[0], carry)
    over = b.op("select", "u32", b.op("lt", "bool", second, carry), u32(1), u32(0))
    first = b.op("add", "u32", b.op("mul", "u32", mantissa, top), centre[1])
    first = b.op("add", "u32", first, over)
    # first, second: a fixed-point number of quarter turns with 2 whole bits
    quarters = b.op("shr", "u32", first, u32(30))
    high = b.op("or", "u32", b.op("shl", "u32", first, u32(2)), b.op("shr", "u32", second, u32(30)))
    rest = b.op("shl", "u32", second, u32(2))
    upper = b.op("ge", "bool", high, u32(1 << 31))  # the nearer quarter turn is the next
    quarters = b.op("add", "u32", quarters, b.op("select", "u32", upper, u32(1), u32(0)))
    high = b.op("select", "u32", upper, b.op("invert", "u32", high), high)
    rest = b.op("select", "u32", upper, b.op("invert", "u32", rest), rest)
    part = f.mul(b.op("cast", "f32", high), 2.0**-32)
    part = f.add(part, f.mul(b.op("cast", "f32", rest), 2.0**-64))
    angle = f.mul(part, 1.5707963267948966)
    negative = b.op("ge", "bool", f.bits(x), u32(0x80000000))
    turned = b.op("ne", "bool", negative, upper)
    angle = f.where(turned, f.op("neg", angle), angle)
    count = b.op("bits", "i32", quarters)
    return angle, b.op("select", "i32", negative, b.op("sub", "i32", i32(0), count), count)


def _word(f: Floats, place: Atom, offset: int) -> Atom:
    """The word of 2/π at a place that is not known, plus one that is."""
    b = f.b
    found: Atom = u32(_TWO_OVER_PI[offset])
    for at in range(1, len(_TWO_OVER_PI) - offset):
        here = b.op("eq", "bool", place, u32(at))
        found = b.op("select", "u32", here, u32(_TWO_OVER_PI[at + offset]), found)
    return found


def _joined(f: Floats, high: Atom, low: Atom, by: Atom) -> Atom:
    """32 bits from the middle of two words, `by` bits from the start."""
    b = f.b
    rest = b.op("and", "u32", b.op("sub", "u32", u32(32), by), u32(31))
    spilt = b.op("shr", "u32", low, rest)
    some = b.op("ne", "bool", by, u32(0))
    moved = b.op("shl", "u32", high, by)
    return b.op("or", "u32", moved, b.op("select", "u32", some, spilt, u32(0)))
