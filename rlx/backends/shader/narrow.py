"""Floats of 8 bits and fewer: float32 rounded to the nearest, halves to even, as ONNX has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.backends.shader.builder import f32, u32
from rlx.backends.shader.floats import INF, NAN, Floats

if TYPE_CHECKING:
    from rlx.backends.shader.builder import Builder
    from rlx.backends.shader.ir import Atom


@dataclass(frozen=True, slots=True)
class Format:
    """How a narrow float is made up."""

    digits: int
    """Binary digits after the first."""
    lowest: int
    """The exponent of the smallest normal number."""
    largest: float
    beyond: Atom | None
    """What a larger number becomes; None: the largest. There is no NaN then: it becomes -0."""
    minus_zero: bool = True


FORMATS = {
    "float8e4m3fn": Format(3, -6, 448.0, NAN),
    "float8e4m3fnuz": Format(3, -7, 240.0, NAN, minus_zero=False),
    "float8e5m2": Format(2, -14, 57344.0, INF),
    "float8e5m2fnuz": Format(2, -15, 57344.0, NAN, minus_zero=False),
    "float6e2m3": Format(3, 0, 7.5, None),
    "float6e3m2": Format(2, -2, 28.0, None),
    "float4e2m1": Format(1, 0, 6.0, None),
}


def narrowed(b: Builder, x: Atom, name: str) -> Atom:
    """A float32 rounded to what the dtype of this name holds."""
    kind, f = FORMATS[name], Floats(b)
    cut = 23 - kind.digits
    size = f.unsigned_bits(x)
    odd = b.op("and", "u32", b.op("shr", "u32", size, u32(cut)), u32(1))
    grown = b.op("add", "u32", b.op("add", "u32", size, u32((1 << (cut - 1)) - 1)), odd)
    normal = b.op("bits", "f32", b.op("and", "u32", grown, u32(-(1 << cut))))
    plain = b.op("bits", "f32", size)
    step = 2.0 ** (kind.lowest - kind.digits)
    fine = f.mul(f.op("round", f.mul(plain, 1 / step)), step)
    below = b.op("lt", "bool", size, u32((127 + kind.lowest) << 23))
    made = f.where(below, fine, normal)
    beyond = f32(kind.largest) if kind.beyond is None else kind.beyond
    made = f.where(f.test("gt", made, kind.largest), beyond, made)
    signed = f.copysign(made, x)
    if not kind.minus_zero:
        signed = f.where(f.test("eq", made, 0.0), 0.0, signed)
    return f.where(f.isnan(x), -0.0 if kind.beyond is None else x, signed)
