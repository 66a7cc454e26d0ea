"""Literals of arithmetic, logic and comparison."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from rlx.conformance.literals.literal import Array, Literal

inf, nan = np.inf, np.nan


def f(*values: float) -> Array:
    """float32."""
    return np.array(values, np.float32)


def h(*values: float) -> Array:
    """float16."""
    return np.array(values, np.float16)


def i(*values: int) -> Array:
    """int32."""
    return np.array(values, np.int32)


def i8(*values: int) -> Array:
    """int8."""
    return np.array(values, np.int8)


def u8(*values: int) -> Array:
    """uint8."""
    return np.array(values, np.uint8)


def b(*values: int) -> Array:
    """bool."""
    return np.array(values, np.bool_)


def bf(*values: float) -> Array:
    """bfloat16."""
    return np.array(values, ml_dtypes.bfloat16)


CASES: list[Literal] = [
    ("Add", {}, [f(1, 2), f(10)], f(11, 12)),
    ("Add", {}, [i8(127), i8(1)], i8(-128)),
    ("Add", {}, [bf(1.5), bf(2)], bf(3.5)),
    ("Add", {}, [np.float32(1), np.float32(2)], np.array(3, np.float32)),
    ("Sub", {}, [f(1, 2), f(10, 1)], f(-9, 1)),
    ("Sub", {}, [u8(1), u8(2)], u8(255)),
    ("Mul", {}, [f(3, -2), f(4, 4)], f(12, -8)),
    ("Div", {}, [f(1, -1, 0), f(4, 0, 0)], f(0.25, -inf, nan)),
    ("Div", {}, [i(7, -7, 7, -7), i(2, 2, -2, -2)], i(3, -3, -3, 3)),
    ("Div", {}, [i8(-128), i8(-1)], i8(-128)),
    ("Div", {}, [u8(200), u8(7)], u8(28)),
    ("Mod", {}, [i(7, -7, 7, -7), i(3, 3, -3, -3)], i(1, 2, -2, -1)),
    ("Mod", {"fmod": 1}, [i(7, -7, 7, -7), i(3, 3, -3, -3)], i(1, -1, 1, -1)),
    ("Mod", {"fmod": 1}, [f(5.5, -5.5), f(2, 2)], f(1.5, -1.5)),
    ("Mod", {}, [f(5.5, -5.5, 1, -1), f(2, 2, inf, inf)], f(1.5, 0.5, 1, inf)),
    ("Pow", {}, [f(2, 3, -2), f(3, 2, 2)], f(8, 9, 4)),
    ("Pow", {}, [f(3, -4), np.array(2, np.int64)], f(9, 16)),
    ("Pow", {}, [i(2, -3), i(10, 3)], i(1024, -27)),
    ("Pow", {}, [i(2, 1, -1), i(-1, -5, -3)], i(0, 1, -1)),
    ("Pow", {}, [i(2, 3), f(2.5, 1.5)], i(5, 5)),
    ("Pow", {}, [f(4), np.array(0.5, np.float64)], f(2)),
    ("Pow", {}, [f(5), np.array(1, np.float32)], f(5)),
    ("Sum", {}, [f(1, 2), f(3, 4), f(5, 6)], f(9, 12)),
    ("Sum", {}, [f(1, 2)], f(1, 2)),
    ("Max", {}, [f(1, 5, nan), f(3, 2, 0), f(2, 2, 0)], f(3, 5, nan)),
    ("Min", {}, [f(1, 5), f(3, 2), f(2, 2)], f(1, 2)),
    ("Mean", {}, [f(1, 2), f(3, 4), f(5, 9)], f(3, 5)),
    ("Mean", {}, [h(2), h(3)], h(2.5)),
    ("PRelu", {}, [f(-1, 2, -3), f(0.5, 0.5, 2)], f(-0.5, 2, -6)),
    ("BitShift", {"direction": "LEFT"}, [u8(1, 1, 255), u8(3, 8, 1)], u8(8, 0, 254)),
    ("BitShift", {"direction": "RIGHT"}, [u8(16, 16), u8(3, 8)], u8(2, 0)),
    ("BitShift", {"direction": "LEFT"}, [i(-1, 3), i(4, -1)], i(-16, 0)),
    ("BitShift", {"direction": "RIGHT"}, [i(-8, -8, 8, -8), i(1, 99, 99, -1)], i(-4, -1, 0, -1)),
    ("BitwiseAnd", {}, [u8(12), u8(10)], u8(8)),
    ("BitwiseOr", {}, [u8(12), u8(10)], u8(14)),
    ("BitwiseXor", {}, [u8(12), u8(10)], u8(6)),
    ("Equal", {}, [f(1, 2, nan), f(1, 3, nan)], b(1, 0, 0)),
    ("Greater", {}, [i(1, 2, 3), i(2)], b(0, 0, 1)),
    ("GreaterOrEqual", {}, [i(1, 2, 3), i(2)], b(0, 1, 1)),
    ("Less", {}, [i(1, 2, 3), i(2)], b(1, 0, 0)),
    ("LessOrEqual", {}, [f(1, 2, 3), f(2)], b(1, 1, 0)),
    ("And", {}, [b(0, 0, 1, 1), b(0, 1, 0, 1)], b(0, 0, 0, 1)),
    ("Or", {}, [b(0, 0, 1, 1), b(0, 1, 0, 1)], b(0, 1, 1, 1)),
    ("Xor", {}, [b(0, 0, 1, 1), b(0, 1, 0, 1)], b(0, 1, 1, 0)),
    ("Not", {}, [b(0, 1)], b(1, 0)),
    ("Where", {}, [b(1, 0), f(1, 2), f(9)], f(1, 9)),
]
