"""Elements in registers: known ones, and integers moved from one kind of register to another."""

from __future__ import annotations

from rlx.backends.shader import pairs
from rlx.backends.shader.builder import Builder, f32, i32, truth, u32
from rlx.backends.shader.ir import Atom

Value = tuple[Atom, ...]
"""An element in registers: one word, or the two of a pair."""


def literal(number: float, register: str) -> Value:
    """A known element."""
    if register == "pair":
        return pairs.pair_of(int(number))
    if register == "f32":
        return (f32(float(number)),)
    if register == "bool":
        return (truth(bool(number)),)
    return ((i32 if register == "i32" else u32)(int(number)),)


def converted(b: Builder, value: Value, source: str, target: str) -> Value:
    """An integer in another kind of register; what does not fit is cut off."""
    if source == target:
        return value
    if target == "pair":
        low = b.op("bits", "u32", value[0]) if source == "i32" else value[0]
        if source == "i32":
            sign = b.op("shr", "i32", value[0], u32(31))
            return low, b.op("bits", "u32", sign)
        return low, u32(0)
    low = value[0]
    if source != "pair" and source == target:
        return (low,)
    held = "u32" if source in ("pair", "u32") else "i32"
    return (low,) if held == target else (b.op("bits", target, low),)
