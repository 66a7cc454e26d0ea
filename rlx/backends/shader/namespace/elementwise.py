"""Functions of each element: each is one scalar function of the generator, or a few."""

# ruff: noqa: A001 - the standard's names are Python's too

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rlx.backends.shader import dtypes as dt
from rlx.backends.shader.dtypes import Dtype, promoted
from rlx.backends.shader.namespace.creation import asarray, astype, like
from rlx.backends.shader.namespace.movement import broadcast_arrays
from rlx.backends.shader.tensor import Tensor, on_device_only

Bounds = tuple[int, int] | None


def mapped(name: str, args: tuple[Tensor, ...], dtype: Dtype, bounds: Bounds = None) -> Tensor:
    """The scalar function `name` of arrays of one shape."""
    on_device_only(dtype)
    for arg in args:
        on_device_only(arg.dtype)
    return Tensor("map", args, (name,), args[0].shape, dtype, bounds)


def _host(function: Callable[..., Any], *args: Tensor) -> Tensor:
    with np.errstate(all="ignore"):
        return Tensor.of_host(np.asarray(function(*(x.host for x in args))))


def _pair(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """Both as arrays of one dtype and shape."""
    first = x1 if isinstance(x1, Tensor) else like(x1, x2)
    second = x2 if isinstance(x2, Tensor) else like(x2, first)
    if first.dtype != second.dtype:
        dtype = promoted(first.dtype, second.dtype)
        first, second = astype(first, dtype), astype(second, dtype)
    if first.shape != second.shape:
        first, second = broadcast_arrays(first, second)
    return first, second


def _unary(name: str, host: Callable[..., Any], *, floats: builtins.bool = True) -> Any:
    """A function of one array that keeps its dtype; with `floats`, integers stay as they are."""

    def function(x: Tensor, /) -> Tensor:
        if x.host is not None:
            return _host(host, x)
        if floats and x.dtype.kind != "float":
            return x
        return mapped(name, (x,), x.dtype)

    return function


def _binary(name: str, host: Callable[..., Any], bounds: Any = None) -> Any:
    def function(x1: Any, x2: Any, /) -> Tensor:
        a, b = _pair(x1, x2)
        if a.host is not None and b.host is not None:
            return _host(host, a, b)
        known = bounds(a, b) if bounds is not None and a.dtype.kind != "float" else None
        return mapped(name, (a, b), a.dtype, known)

    return function


def _compare(name: str, host: Callable[..., Any]) -> Any:
    def function(x1: Any, x2: Any, /) -> Tensor:
        a, b = _pair(x1, x2)
        if a.host is not None and b.host is not None:
            return _host(host, a, b)
        return mapped(name, (a, b), dt.bool_)

    return function


def _corners(function: Callable[[int, int], int]) -> Any:
    """Bounds of a function that is monotonic in each operand: those at the corners."""

    def bounds(a: Tensor, b: Tensor) -> tuple[int, int]:
        found = [function(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return min_(found), max_(found)

    return bounds


min_, max_ = builtins.min, builtins.max


def _rest(a: Tensor, b: Tensor) -> Bounds:
    """What is left of a division by positive numbers is smaller than they are."""
    del a
    return (0, b.high - 1) if b.low > 0 else None


def _quotient(a: Tensor, b: Tensor) -> Bounds:
    if b.low <= 0:
        return None
    found = [x // y for x in (a.low, a.high) for y in (b.low, b.high)]
    return min_(found), max_(found)


add = _binary("add", np.add, _corners(operator.add))
subtract = _binary("sub", np.subtract, _corners(operator.sub))
multiply = _binary("mul", np.multiply, _corners(operator.mul))
maximum = _binary("max", np.maximum, _corners(max_))
minimum = _binary("min", np.minimum, _corners(min_))
floor_divide = _binary("floordiv", np.floor_divide, _quotient)
remainder = _binary("rem", np.remainder, _rest)
fmod = _binary("fmod", np.fmod)
bitwise_and = _binary("and", np.bitwise_and)
bitwise_or = _binary("or", np.bitwise_or)
bitwise_xor = _binary("xor", np.bitwise_xor)
bitwise_left_shift = _binary("shl", np.left_shift)
bitwise_right_shift = _binary("shr", np.right_shift)
equal, not_equal = _compare("eq", np.equal), _compare("ne", np.not_equal)
less, less_equal = _compare("lt", np.less), _compare("le", np.less_equal)
greater, greater_equal = _compare("gt", np.greater), _compare("ge", np.greater_equal)
_pow_same = _binary("pow", np.power)


def divide(x1: Any, x2: Any, /) -> Tensor:
    """The quotient; of integers in float32 where they are exact in it.

    Raises:
        NotImplementedError: float64 would be needed.
    """
    a, b = _pair(x1, x2)
    if a.host is not None and b.host is not None:
        return _host(np.divide, a, b)
    if a.dtype.kind != "float":
        raise NotImplementedError(f"shaders do not divide {a.dtype.name} as real numbers")
    return mapped("div", (a, b), a.dtype)


def pow(x1: Any, x2: Any, /) -> Tensor:
    """The power; of integers exact, wrapping around."""
    if isinstance(x2, int | float) and x2 == 2:
        return multiply(x1, x1)  # type: ignore[no-any-return]
    return _pow_same(x1, x2)  # type: ignore[no-any-return]


def negative(x: Tensor, /) -> Tensor:
    """With the sign turned; unsigned integers wrap around."""
    if x.host is not None:
        return _host(np.negative, x)
    return mapped("neg", (x,), x.dtype, (-x.high, -x.low))


def abs(x: Tensor, /) -> Tensor:
    """Without sign; the lowest integer stays."""
    if x.host is not None:
        return _host(np.abs, x)
    if x.dtype.kind in ("uint", "bool"):
        return x
    top = max_(builtins.abs(x.low), builtins.abs(x.high))
    return mapped("abs", (x,), x.dtype, (0, top))


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1; NaN stays NaN."""
    if x.host is not None:
        return _host(np.sign, x)
    return mapped("sign", (x,), x.dtype, (-1 if x.dtype.kind == "int" else 0, 1))


def positive(x: Tensor, /) -> Tensor:
    """The array itself."""
    return x


def square(x: Tensor, /) -> Tensor:
    """Times itself."""
    return multiply(x, x)  # type: ignore[no-any-return]


def reciprocal(x: Tensor, /) -> Tensor:
    """1 divided by it."""
    return divide(1.0, x)


floor, ceil = _unary("floor", np.floor), _unary("ceil", np.ceil)
trunc, round = _unary("trunc", np.trunc), _unary("round", np.rint)
sqrt, exp, log = _unary("sqrt", np.sqrt), _unary("exp", np.exp), _unary("log", np.log)
expm1, log1p = _unary("expm1", np.expm1), _unary("log1p", np.log1p)
sin, cos, tan = _unary("sin", np.sin), _unary("cos", np.cos), _unary("tan", np.tan)
asin, acos, atan = _unary("asin", np.arcsin), _unary("acos", np.arccos), _unary("atan", np.arctan)
sinh, cosh, tanh = _unary("sinh", np.sinh), _unary("cosh", np.cosh), _unary("tanh", np.tanh)
asinh, acosh = _unary("asinh", np.arcsinh), _unary("acosh", np.arccosh)
atanh = _unary("atanh", np.arctanh)


def _flag(name: str, host: Callable[..., Any], of_integers: builtins.bool) -> Any:
    def function(x: Tensor, /) -> Tensor:
        if x.host is not None:
            return _host(host, x)
        if x.dtype.kind != "float":
            from rlx.backends.shader.namespace.creation import full_like

            return full_like(x, of_integers, dtype=dt.bool_)
        return mapped(name, (x,), dt.bool_)

    return function


isnan, isinf = _flag("isnan", np.isnan, False), _flag("isinf", np.isinf, False)
isfinite = _flag("isfinite", np.isfinite, True)


def _truth(x: Any, other: Any) -> Tensor:
    return astype(x if isinstance(x, Tensor) else like(x, other), dt.bool_)


def logical_and(x1: Any, x2: Any, /) -> Tensor:
    """Both true."""
    return bitwise_and(_truth(x1, x2), _truth(x2, x1))  # type: ignore[no-any-return]


def logical_or(x1: Any, x2: Any, /) -> Tensor:
    """One true."""
    return bitwise_or(_truth(x1, x2), _truth(x2, x1))  # type: ignore[no-any-return]


def logical_xor(x1: Any, x2: Any, /) -> Tensor:
    """One true, the other not."""
    return bitwise_xor(_truth(x1, x2), _truth(x2, x1))  # type: ignore[no-any-return]


def logical_not(x: Tensor, /) -> Tensor:
    """Not true."""
    return bitwise_invert(_truth(x, x))


def bitwise_invert(x: Tensor, /) -> Tensor:
    """Every bit turned."""
    if x.host is not None:
        return _host(np.invert, x)
    return mapped("not", (x,), x.dtype)


def where(condition: Any, x1: Any, x2: Any, /) -> Tensor:
    """x1 where the condition is true, else x2."""
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        x1 = asarray(x1)
    a = x1 if isinstance(x1, Tensor) else like(x1, x2)
    b = x2 if isinstance(x2, Tensor) else like(x2, a)
    flags = _truth(condition, a)
    if a.dtype != b.dtype:
        dtype = promoted(a.dtype, b.dtype)
        a, b = astype(a, dtype), astype(b, dtype)
    flags, a, b = broadcast_arrays(flags, a, b)
    if flags.host is not None and a.host is not None and b.host is not None:
        return _host(np.where, flags, a, b)
    bounds = None if a.dtype.kind == "float" else (min_(a.low, b.low), max_(a.high, b.high))
    return mapped("where", (flags, a, b), a.dtype, bounds)


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Within bounds; where they cross, the upper one; NaN stays NaN."""
    if min is not None:
        x = maximum(x, min)
    return x if max is None else minimum(x, max)


def copysign(x1: Any, x2: Any, /) -> Tensor:
    """The first with the sign of the second."""
    a, b = _pair(x1, x2)
    if a.host is not None and b.host is not None:
        return _host(np.copysign, a, b)
    return mapped("copysign", (a, b), a.dtype)
