"""Integers of 64 bits as two words, low and high: shaders have none that all adapters know."""

from __future__ import annotations

from rlx.backends.shader.builder import Builder, f32, u32
from rlx.backends.shader.ir import Atom

Pair = tuple[Atom, Atom]
ZERO: Pair = (u32(0), u32(0))
ONE: Pair = (u32(1), u32(0))


def pair_of(number: int) -> Pair:
    """A known integer, signed or not."""
    return u32(number), u32(number >> 32)


def add(b: Builder, x: Pair, y: Pair) -> Pair:
    """The sum, wrapping around."""
    low = b.op("add", "u32", x[0], y[0])
    carried = b.op("lt", "bool", low, x[0])
    high = b.op("add", "u32", x[1], y[1])
    return low, b.op("add", "u32", high, b.op("select", "u32", carried, u32(1), u32(0)))


def negate(b: Builder, x: Pair) -> Pair:
    """The sign turned, wrapping around."""
    return add(b, invert(b, x), ONE)


def subtract(b: Builder, x: Pair, y: Pair) -> Pair:
    """The difference, wrapping around."""
    low = b.op("sub", "u32", x[0], y[0])
    borrowed = b.op("lt", "bool", x[0], y[0])
    high = b.op("sub", "u32", x[1], y[1])
    return low, b.op("sub", "u32", high, b.op("select", "u32", borrowed, u32(1), u32(0)))


def wide_product(b: Builder, x: Atom, y: Atom) -> Pair:
    """The 64 bits of the product of two words."""
    mask, half = u32(0xFFFF), u32(16)
    x0, x1 = b.op("and", "u32", x, mask), b.op("shr", "u32", x, half)
    y0, y1 = b.op("and", "u32", y, mask), b.op("shr", "u32", y, half)
    low, high = b.op("mul", "u32", x0, y0), b.op("mul", "u32", x1, y1)
    first, second = b.op("mul", "u32", x0, y1), b.op("mul", "u32", x1, y0)
    middle = b.op("add", "u32", b.op("shr", "u32", low, half), b.op("and", "u32", first, mask))
    middle = b.op("add", "u32", middle, b.op("and", "u32", second, mask))
    high = b.op("add", "u32", high, b.op("shr", "u32", first, half))
    high = b.op("add", "u32", high, b.op("shr", "u32", second, half))
    high = b.op("add", "u32", high, b.op("shr", "u32", middle, half))
    return b.op("mul", "u32", x, y), high


def multiply(b: Builder, x: Pair, y: Pair) -> Pair:
    """The product, wrapping around."""
    low, high = wide_product(b, x[0], y[0])
    high = b.op("add", "u32", high, b.op("mul", "u32", x[0], y[1]))
    return low, b.op("add", "u32", high, b.op("mul", "u32", x[1], y[0]))


def invert(b: Builder, x: Pair) -> Pair:
    """Every bit turned."""
    return b.op("invert", "u32", x[0]), b.op("invert", "u32", x[1])


def bitwise(b: Builder, op: str, x: Pair, y: Pair) -> Pair:
    """`and`, `or` or `xor` of every bit."""
    return b.op(op, "u32", x[0], y[0]), b.op(op, "u32", x[1], y[1])


def select(b: Builder, condition: Atom, x: Pair, y: Pair) -> Pair:
    """x where the condition holds, else y."""
    return (
        b.op("select", "u32", condition, x[0], y[0]),
        b.op("select", "u32", condition, x[1], y[1]),
    )


def equal(b: Builder, x: Pair, y: Pair) -> Atom:
    """Whether all bits are the same."""
    return b.op("and", "bool", b.op("eq", "bool", x[0], y[0]), b.op("eq", "bool", x[1], y[1]))


def less(b: Builder, x: Pair, y: Pair, *, signed: bool) -> Atom:
    """Whether x is below y."""
    tops = [b.op("bits", "i32", one[1]) if signed else one[1] for one in (x, y)]
    above = b.op("lt", "bool", *tops)
    level = b.op("eq", "bool", x[1], y[1])
    return b.op("or", "bool", above, b.op("and", "bool", level, b.op("lt", "bool", x[0], y[0])))


def is_negative(b: Builder, x: Pair) -> Atom:
    """Whether the sign bit is set."""
    return b.op("ge", "bool", x[1], u32(1 << 31))


def absolute(b: Builder, x: Pair) -> Pair:
    """Without its sign; the lowest stays."""
    return select(b, is_negative(b, x), negate(b, x), x)


def shift(b: Builder, x: Pair, count: Atom, *, left: bool, signed: bool) -> Pair:
    """Moved by 0 to 63 bits."""
    kind = "shl" if left else "shr"
    far = b.op("ge", "bool", count, u32(32))
    by = b.op("and", "u32", count, u32(31))
    rest = b.op("and", "u32", b.op("sub", "u32", u32(32), by), u32(31))
    some = b.op("ne", "bool", by, u32(0))
    own, other = (x[0], x[1]) if left else (x[1], x[0])

    def moved(word: Atom) -> Atom:
        if left or not signed or word is x[0]:
            return b.op(kind, "u32", word, by)
        return b.op("bits", "u32", b.op("shr", "i32", b.op("bits", "i32", word), by))

    spilt = b.op("shr" if left else "shl", "u32", own, rest)
    spilt = b.op("select", "u32", some, spilt, u32(0))
    near_own, near_other = moved(own), b.op("or", "u32", b.op(kind, "u32", other, by), spilt)
    fill: Atom = u32(0)
    if signed and not left:
        fill = b.op("select", "u32", is_negative(b, x), u32(0xFFFFFFFF), u32(0))
    out_own = b.op("select", "u32", far, fill, near_own)
    out_other = b.op("select", "u32", far, moved(own), near_other)
    return (out_own, out_other) if left else (out_other, out_own)


def divide(b: Builder, x: Pair, y: Pair) -> tuple[Pair, Pair]:
    """Quotient and rest of numbers without sign, bit by bit; of a division by 0: all ones and x."""
    rest = [b.var(u32(0)), b.var(u32(0))]
    quotient = [b.var(u32(0)), b.var(u32(0))]
    with b.loop(u32(0), u32(64)) as turn:
        place = b.op("sub", "u32", u32(63), turn)
        bit = b.op("and", "u32", shift(b, x, place, left=False, signed=False)[0], u32(1))
        held = (b.read(rest[0]), b.read(rest[1]))
        low, high = shift(b, held, u32(1), left=True, signed=False)
        low = b.op("or", "u32", low, bit)
        # what the shift pushed out says that the rest is above every divisor
        above = is_negative(b, held)
        fits = b.op("not", "bool", less(b, (low, high), y, signed=False))
        fits = b.op("or", "bool", above, fits)
        left = subtract(b, (low, high), y)
        b.assign(rest[0], b.op("select", "u32", fits, left[0], low))
        b.assign(rest[1], b.op("select", "u32", fits, left[1], high))
        grown = shift(
            b, (b.read(quotient[0]), b.read(quotient[1])), u32(1), left=True, signed=False
        )
        one = b.op("select", "u32", fits, u32(1), u32(0))
        b.assign(quotient[0], b.op("or", "u32", grown[0], one))
        b.assign(quotient[1], grown[1])
    return (b.read(quotient[0]), b.read(quotient[1])), (b.read(rest[0]), b.read(rest[1]))


def to_float(b: Builder, x: Pair, *, signed: bool) -> Atom:
    """As float32, rounded twice."""
    size = absolute(b, x) if signed else x
    high = b.op("mul", "f32", b.op("cast", "f32", size[1]), f32(4294967296.0))
    value = b.op("add", "f32", high, b.op("cast", "f32", size[0]))
    if not signed:
        return value
    return b.op("select", "f32", is_negative(b, x), b.op("neg", "f32", value), value)


def from_float(b: Builder, x: Atom) -> Pair:
    """The whole part of a float32 that 64 bits can hold."""
    size = b.op("trunc", "f32", b.op("abs", "f32", x))
    top = b.op("floor", "f32", b.op("mul", "f32", size, f32(2.0**-32)))
    low = b.op("sub", "f32", size, b.op("mul", "f32", top, f32(2.0**32)))
    made = (b.op("cast", "u32", low), b.op("cast", "u32", top))
    return select(b, b.op("lt", "bool", x, f32(0.0)), negate(b, made), made)
