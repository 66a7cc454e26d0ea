"""Functions of integers: in one word, and of 64 bits in two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.shader import pairs
from rlx.backends.shader.builder import BOOLEAN, Builder, i32, truth, u32
from rlx.backends.shader.values import Value, converted

if TYPE_CHECKING:
    from rlx.backends.shader.dtypes import Dtype
    from rlx.backends.shader.ir import Atom
    from rlx.backends.shader.tensor import Tensor


def integer(b: Builder, name: str, made: Tensor, values: list[Value]) -> Value:
    """A function of integers, in the registers that its bounds allow."""
    dtype = made.args[0].dtype
    kinds = [arg.register for arg in made.args]
    if name not in BOOLEAN:
        kinds.append(made.register)
    signed = dtype.kind == "int"
    register = "pair" if "pair" in kinds else "i32" if signed else "u32"
    operands = [
        converted(b, value, arg.register, register)
        for value, arg in zip(values, made.args, strict=True)
    ]
    if register == "pair":
        wide = [(one[0], one[1]) for one in operands]
        if name in BOOLEAN:
            return (_pair_test(b, name, wide, signed=signed),)
        found = _pair(b, name, wide, signed=signed)
        return converted(b, found, "pair", made.register)
    words = [one[0] for one in operands]
    if name in BOOLEAN:
        return (b.op(name, "bool", *words),)
    found_word = _word(b, name, words, register, dtype)
    return (wrapped(b, found_word, dtype),)


def wrapped(b: Builder, value: Atom, dtype: Dtype) -> Atom:
    """A word cut down to what the dtype holds."""
    if dtype.bits >= 32:
        return value
    if dtype.kind == "uint":
        return b.op("and", "u32", value, u32((1 << dtype.bits) - 1))
    gap = u32(32 - dtype.bits)
    return b.op("shr", "i32", b.op("shl", "i32", value, gap), gap)


def lit(number: int, register: str) -> Atom:
    """A known word, signed or not."""
    return i32(number) if register == "i32" else u32(number)


def _word(b: Builder, name: str, args: list[Atom], register: str, dtype: Dtype) -> Atom:
    one = args[0]
    other = args[1] if len(args) > 1 else one
    signed = register == "i32"
    zero = lit(0, register)
    match name:
        case "add" | "sub" | "mul" | "and" | "or" | "xor" | "max" | "min":
            return b.op(name, register, one, other)
        case "neg":
            return b.op("sub", register, zero, one)
        case "abs":
            return b.op("abs", register, one)
        case "not":
            return b.op("invert", register, one)
        case "sign":
            above = b.op("select", register, b.op("gt", "bool", one, zero), lit(1, register), zero)
            if not signed:
                return above
            return b.op("select", register, b.op("lt", "bool", one, zero), i32(-1), above)
        case "shl" | "shr":
            return b.op(name, register, one, b.op("bits", "u32", other) if signed else other)
        case "floordiv" | "rem" | "fmod":
            return _divided(b, name, one, other, register)
        case "pow":
            return _power(b, one, other, register, dtype)
    raise NotImplementedError(f"shaders have no {name} of integers")


def _divided(b: Builder, name: str, x: Atom, y: Atom, register: str) -> Atom:
    """Rounded down, or toward zero for fmod; by zero it is 0, and nothing traps."""
    zero = lit(0, register)
    none = b.op("eq", "bool", y, zero)
    turn = b.op("eq", "bool", y, i32(-1)) if register == "i32" else truth(False)
    unsafe = b.op("or", "bool", none, turn) if register == "i32" else none
    divisor = b.op("select", register, unsafe, lit(1, register), y)
    quotient = b.op("div", register, x, divisor)
    rest = b.op("sub", register, x, b.op("mul", register, quotient, divisor))
    if register == "i32" and name != "fmod":
        apart = b.op("ne", "bool", _sign_bit(b, rest), _sign_bit(b, divisor))
        off = b.op("and", "bool", b.op("ne", "bool", rest, zero), apart)
        quotient = b.op("select", register, off, b.op("sub", register, quotient, i32(1)), quotient)
        rest = b.op("select", register, off, b.op("add", register, rest, divisor), rest)
    if name == "floordiv":
        if register == "i32":
            quotient = b.op("select", register, turn, b.op("sub", register, zero, x), quotient)
        return b.op("select", register, none, zero, quotient)
    return b.op("select", register, unsafe, zero, rest)


def _sign_bit(b: Builder, x: Atom) -> Atom:
    return b.op("shr", "u32", b.op("bits", "u32", x), u32(31))


def _power(b: Builder, x: Atom, y: Atom, register: str, dtype: Dtype) -> Atom:
    """By squaring; wrapping around, which a narrower dtype does at the end."""
    base, left, total = b.var(x), b.var(y), b.var(lit(1, register))
    with b.loop(u32(0), u32(dtype.bits)):
        now, power, bits = b.read(total), b.read(base), b.read(left)
        odd = b.op("ne", "bool", b.op("and", register, bits, lit(1, register)), lit(0, register))
        grown = b.op("mul", register, now, power)
        b.assign(total, b.op("select", register, odd, grown, now))
        b.assign(base, b.op("mul", register, power, power))
        b.assign(left, b.op("shr", register, bits, u32(1)))
    return b.read(total)


def _pair_test(b: Builder, name: str, args: list[pairs.Pair], *, signed: bool) -> Atom:
    x, y = args
    match name:
        case "eq":
            return pairs.equal(b, x, y)
        case "ne":
            return b.op("not", "bool", pairs.equal(b, x, y))
        case "lt":
            return pairs.less(b, x, y, signed=signed)
        case "gt":
            return pairs.less(b, y, x, signed=signed)
        case "le":
            return b.op("not", "bool", pairs.less(b, y, x, signed=signed))
    return b.op("not", "bool", pairs.less(b, x, y, signed=signed))


def _pair(b: Builder, name: str, args: list[pairs.Pair], *, signed: bool) -> pairs.Pair:
    x = args[0]
    y = args[1] if len(args) > 1 else x
    match name:
        case "add":
            return pairs.add(b, x, y)
        case "sub":
            return pairs.subtract(b, x, y)
        case "mul":
            return pairs.multiply(b, x, y)
        case "neg":
            return pairs.negate(b, x)
        case "abs":
            return pairs.absolute(b, x)
        case "not":
            return pairs.invert(b, x)
        case "and" | "or" | "xor":
            return pairs.bitwise(b, name, x, y)
        case "max" | "min":
            below = pairs.less(b, x, y, signed=signed)
            return pairs.select(b, below, *((y, x) if name == "max" else (x, y)))
        case "shl" | "shr":
            return pairs.shift(b, x, y[0], left=name == "shl", signed=signed)
        case "sign":
            some = b.op("ne", "bool", b.op("or", "u32", *x), u32(0))
            above = pairs.select(b, some, pairs.ONE, pairs.ZERO)
            if not signed:
                return above
            return pairs.select(b, pairs.is_negative(b, x), pairs.pair_of(-1), above)
        case "floordiv" | "rem" | "fmod":
            return _pair_divided(b, name, x, y, signed=signed)
        case "pow":
            return _pair_power(b, x, y)
    raise NotImplementedError(f"shaders have no {name} of integers of 64 bits")


def _pair_divided(
    b: Builder, name: str, x: pairs.Pair, y: pairs.Pair, *, signed: bool
) -> pairs.Pair:
    none = pairs.equal(b, y, pairs.ZERO)
    top, bottom = (pairs.absolute(b, one) if signed else one for one in (x, y))
    quotient, rest = pairs.divide(b, top, bottom)
    if signed:
        apart = b.op("xor", "bool", pairs.is_negative(b, x), pairs.is_negative(b, y))
        quotient = pairs.select(b, apart, pairs.negate(b, quotient), quotient)
        rest = pairs.select(b, pairs.is_negative(b, x), pairs.negate(b, rest), rest)
        if name != "fmod":
            some = b.op("not", "bool", pairs.equal(b, rest, pairs.ZERO))
            off = b.op("and", "bool", some, apart)
            quotient = pairs.select(b, off, pairs.subtract(b, quotient, pairs.ONE), quotient)
            rest = pairs.select(b, off, pairs.add(b, rest, y), rest)
    return pairs.select(b, none, pairs.ZERO, quotient if name == "floordiv" else rest)


def _pair_power(b: Builder, x: pairs.Pair, y: pairs.Pair) -> pairs.Pair:
    base, left = [b.var(word) for word in x], [b.var(word) for word in y]
    total = [b.var(word) for word in pairs.ONE]
    with b.loop(u32(0), u32(64)):
        now = b.read(total[0]), b.read(total[1])
        power = b.read(base[0]), b.read(base[1])
        bits = b.read(left[0]), b.read(left[1])
        odd = b.op("ne", "bool", b.op("and", "u32", bits[0], u32(1)), u32(0))
        grown = pairs.select(b, odd, pairs.multiply(b, now, power), now)
        squared = pairs.multiply(b, power, power)
        halved = pairs.shift(b, bits, u32(1), left=False, signed=False)
        for targets, made in ((total, grown), (base, squared), (left, halved)):
            b.assign(targets[0], made[0])
            b.assign(targets[1], made[1])
    return b.read(total[0]), b.read(total[1])
