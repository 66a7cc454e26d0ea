"""The scalar functions that `map` applies, for every register: floats, words, pairs and truths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.shader import pairs
from rlx.backends.shader.builder import BOOLEAN, Builder, f32, i32, u32
from rlx.backends.shader.functions import UNARY, Functions
from rlx.backends.shader.integers import integer, lit, wrapped
from rlx.backends.shader.mending import REFINED, Mending
from rlx.backends.shader.narrow import narrowed
from rlx.backends.shader.values import Value, converted

if TYPE_CHECKING:
    from rlx.backends.shader.dtypes import Dtype
    from rlx.backends.shader.ir import Atom
    from rlx.backends.shader.tensor import Tensor

_EXACT = frozenset(
    {*("neg", "abs", "max", "min", "where", "floor", "ceil", "trunc", "round", "sign", "copysign")}
)
"""Functions whose results a narrow float dtype holds if it holds the arguments."""


def computed(b: Builder, made: Tensor, values: list[Value]) -> Value:
    """One element of a `map`."""
    name = made.params[0]
    args = made.args
    if name == "cast":
        return cast(b, values[0], args[0], made)
    if name == "bits":
        return _same_bits(b, values[0], args[0], made)
    if name == "where":
        chosen = [
            converted(b, value, arg.register, made.register) if arg.dtype.kind != "float" else value
            for value, arg in zip(values[1:], args[1:], strict=True)
        ]
        if made.register == "pair":
            first, second = ((one[0], one[1]) for one in chosen)
            return pairs.select(b, values[0][0], first, second)
        return (b.op("select", made.register, values[0][0], chosen[0][0], chosen[1][0]),)
    dtype = args[0].dtype
    if dtype.kind == "float":
        return _float(b, name, made, [value[0] for value in values])
    if dtype.kind == "bool":
        return (_bool(b, name, [value[0] for value in values]),)
    return integer(b, name, made, values)


# Floats.


def _float(b: Builder, name: str, made: Tensor, args: list[Atom]) -> Value:
    f = Functions(b)
    if name in BOOLEAN:
        loose = name in b.loose
        return (Mending(b).compared(name, *args) if loose else b.op(name, "bool", *args),)
    if name in b.loose and name in _MENDED:
        return (rounded(b, getattr(Mending(b), _MENDED[name])(*args), made.dtype),)
    if name == "div" and REFINED in b.loose:
        return (rounded(b, Mending(b).refined(*args), made.dtype),)
    if name in ("isnan", "isinf", "isfinite"):
        return (getattr(f, name)(args[0]),)
    if name in UNARY:
        found = UNARY[name](f, args[0])
    elif name in _FLOAT:
        found = getattr(f, _FLOAT[name])(*args)
    else:
        found = b.op(name, "f32", *args)
    return (rounded(b, found, made.dtype) if name not in _EXACT else found,)


_MENDED = {"mul": "product", "div": "quotient", "floor": "floor", "ceil": "ceil"}
_FLOAT = {
    "max": "maximum",
    "min": "minimum",
    "pow": "pow",
    "fmod": "fmod",
    "rem": "remainder",
    "copysign": "copysign",
}


def rounded(b: Builder, value: Atom, dtype: Dtype) -> Atom:
    """A float32 rounded to what the dtype holds."""
    if dtype.name == "float16":
        return Functions(b).rounded_float16(value)
    if dtype.name == "bfloat16":
        return Functions(b).rounded_bfloat16(value)
    return value if dtype.bits == 32 else narrowed(b, value, dtype.name)


# Truths.


def _bool(b: Builder, name: str, args: list[Atom]) -> Atom:
    if name in ("eq", "ne", "and", "or", "xor"):
        if name == "eq":
            return b.op("not", "bool", b.op("xor", "bool", *args))
        return b.op("xor" if name == "ne" else name, "bool", *args)
    if name == "not":
        return b.op("not", "bool", args[0])
    if name in ("max", "add"):
        return b.op("or", "bool", *args)
    if name in ("min", "mul"):
        return b.op("and", "bool", *args)
    raise NotImplementedError(f"shaders have no {name} of truths")


# Conversions.


def cast(b: Builder, value: Value, source: Tensor, made: Tensor) -> Value:
    """An element in another dtype."""
    first, last = source.dtype, made.dtype
    if last.kind == "bool":
        return (_is_set(b, value, source),)
    if first.kind == "bool":
        return _of_truth(b, value[0], made.register)
    if last.kind == "float":
        return (rounded(b, _to_float(b, value, source), last),)
    if first.kind == "float":
        return _from_float(b, value[0], last, made.register)
    found = converted(b, value, source.register, made.register)
    if source.register != "pair" and made.register == "pair" and first.kind == "uint":
        found = (value[0], u32(0))
    return found if made.register == "pair" else (wrapped(b, found[0], last),)


def _is_set(b: Builder, value: Value, source: Tensor) -> Atom:
    if source.dtype.kind == "float":
        return b.op("ne", "bool", Functions(b).unsigned_bits(value[0]), u32(0))
    if source.register == "pair":
        return b.op("ne", "bool", b.op("or", "u32", *value), u32(0))
    return b.op("ne", "bool", value[0], lit(0, source.register))


def _of_truth(b: Builder, value: Atom, register: str) -> Value:
    if register == "pair":
        return b.op("select", "u32", value, u32(1), u32(0)), u32(0)
    if register == "f32":
        return (b.op("select", "f32", value, f32(1.0), f32(0.0)),)
    return (b.op("select", register, value, lit(1, register), lit(0, register)),)


def _to_float(b: Builder, value: Value, source: Tensor) -> Atom:
    if source.dtype.kind == "float":
        return value[0]
    if source.register == "pair":
        return pairs.to_float(b, (value[0], value[1]), signed=source.dtype.kind == "int")
    return b.op("cast", "f32", value[0])


def _from_float(b: Builder, value: Atom, dtype: Dtype, register: str) -> Value:
    """An integer from a float; of what a signed one can't hold, the lowest, as processors say."""
    size = Functions(b).unsigned_bits(value)
    if register == "pair":
        found = pairs.from_float(b, value)
        if dtype.kind == "uint":
            return found
        beyond = b.op("ge", "bool", size, u32(0x5F000000))  # 2^63, infinite, or NaN
        return pairs.select(b, beyond, (u32(0), u32(1 << 31)), found)
    if dtype.bits == 32 and dtype.kind == "uint":
        below = b.op("lt", "bool", value, f32(0.0))
        whole = b.op("cast", "u32", b.op("max", "f32", value, f32(0.0)))
        negative = b.op("bits", "u32", b.op("cast", "i32", value))
        return (b.op("select", "u32", below, negative, whole),)
    beyond = b.op("ge", "bool", size, u32(0x4F000000))  # 2^31, infinite, or NaN
    near = b.op("select", "f32", beyond, f32(0.0), value)
    whole = b.op("select", "i32", beyond, i32(-(1 << 31)), b.op("cast", "i32", near))
    held = whole if dtype.kind == "int" else b.op("bits", "u32", whole)
    return (wrapped(b, held, dtype),)


def _same_bits(b: Builder, value: Value, source: Tensor, made: Tensor) -> Value:
    if made.register == "pair" or source.register == "pair":
        return converted(b, value, source.register, made.register)
    held = b.op("bits", made.register, value[0])
    return (wrapped(b, held, made.dtype) if made.dtype.kind != "float" else held,)
