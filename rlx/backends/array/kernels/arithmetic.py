"""Arithmetic of two or more operands, element by element, with broadcasting."""

from __future__ import annotations

from functools import reduce
from typing import Any

from rlx.backends.array.dtypes import INTEGERS, SIGNED
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.native import function, is_numpy
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def _function(name: str) -> Builder:
    def build(site: Site) -> Kernel:
        return function(site.xp, name)

    return build


def _dtype(site: Site) -> str:
    first = site.inputs[0]
    if first is None or not first.dtype:
        raise NotImplementedError("the dtype of the first input is unknown")
    return first.dtype


def _div(site: Site) -> Kernel:
    xp = site.xp
    dtype = _dtype(site)
    if dtype not in INTEGERS:
        return function(xp, "divide")
    if dtype not in SIGNED:
        return function(xp, "floor_divide")

    def truncating(x: Array, y: Array) -> Array:
        quotient = xp.floor_divide(x, y)
        inexact = xp.remainder(x, y) != 0
        return quotient + xp.astype(inexact & ((x < 0) ^ (y < 0)), quotient.dtype)

    return Fresh(truncating)


def _mod(site: Site) -> Kernel:
    xp = site.xp
    if not site.attributes.get("fmod", 0):
        return function(xp, "remainder")
    if hasattr(xp, "fmod"):
        return function(xp, "fmod")

    def fmod(x: Array, y: Array) -> Array:
        rest = xp.remainder(xp.abs(x), xp.abs(y))
        return xp.where(x < 0, -rest, rest)

    return Fresh(fmod)


def _pow(site: Site) -> Kernel:
    xp = site.xp
    base, exponent = site.inputs
    dtype = _dtype(site)
    known = site.constants[1]
    if dtype not in INTEGERS and known is not None and known.ndim == 0:
        if float(known) == 2.0:
            return Fresh(lambda x, _: x * x)
        if float(known) == 1.0:
            return lambda x, _: x
    assert base is not None
    if exponent is None or not exponent.dtype:
        raise NotImplementedError("the dtype of the exponent is unknown")
    if dtype in INTEGERS and exponent.dtype in INTEGERS:
        return Fresh(_integer_power(xp, signed=exponent.dtype in SIGNED))
    if dtype == exponent.dtype:
        return function(xp, "pow")

    def power(x: Array, y: Array) -> Array:
        return xp.astype(xp.pow(xp.astype(x, xp.float64), xp.astype(y, xp.float64)), x.dtype)

    return Fresh(power)


def _integer_power(xp: Any, *, signed: bool) -> Kernel:
    """Exact, wrapping; a negative exponent gives the real power, rounded toward zero."""

    def power(x: Array, y: Array) -> Array:
        if not signed or (is_numpy(xp) and not xp.any(y < 0)):
            return xp.pow(x, xp.astype(y, x.dtype))
        whole = xp.pow(x, xp.astype(xp.where(y < 0, xp.zeros_like(y), y), x.dtype))
        real = xp.pow(xp.astype(x, xp.float64), xp.astype(y, xp.float64))
        return xp.where(y < 0, xp.astype(real, x.dtype), whole)

    return power


def _variadic(name: str) -> Builder:
    def build(site: Site) -> Kernel:
        if len(site.inputs) == 1:
            return lambda x: x
        step = function(site.xp, name)
        if len(site.inputs) == 2:
            return step
        return Fresh(lambda *inputs: reduce(step.call, inputs))

    return build


def _mean(site: Site) -> Kernel:
    total = site.xp.add
    count = len(site.inputs)
    return Fresh(lambda *inputs: reduce(total, inputs) / count)


def _prelu(site: Site) -> Kernel:
    xp = site.xp
    return Fresh(lambda x, slope: xp.where(x < 0, x * slope, x))


def _shift(site: Site) -> Kernel:
    """Shifts by the number of bits or more give what sign extension alone produces."""
    xp = site.xp
    dtype = _dtype(site)
    width = xp.iinfo(getattr(xp, dtype)).bits
    if site.attributes["direction"] == "LEFT":

        def left(x: Array, y: Array) -> Array:
            inside = (y >= 0) & (y < width)
            moved = xp.bitwise_left_shift(x, xp.where(inside, y, xp.zeros_like(y)))
            return xp.where(inside, moved, xp.zeros_like(moved))

        return Fresh(left)

    def right(x: Array, y: Array) -> Array:
        inside = (y >= 0) & (y < width)
        return xp.bitwise_right_shift(x, xp.where(inside, y, xp.full_like(y, width - 1))) * (
            xp.astype(inside | (x < 0), x.dtype)
        )

    return Fresh(right)


KERNELS: dict[str, Builder] = {
    "Add": _function("add"),
    "Sub": _function("subtract"),
    "Mul": _function("multiply"),
    "Div": _div,
    "Mod": _mod,
    "Pow": _pow,
    "Sum": _variadic("add"),
    "Max": _variadic("maximum"),
    "Min": _variadic("minimum"),
    "Mean": widened(_mean),
    "PRelu": _prelu,
    "BitShift": _shift,
    "BitwiseAnd": _function("bitwise_and"),
    "BitwiseOr": _function("bitwise_or"),
    "BitwiseXor": _function("bitwise_xor"),
}
