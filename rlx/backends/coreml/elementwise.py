"""Functions element by element: of one operand, of two, comparisons, logic, Where and Cast."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from rlx.backends.coreml.site import FLOATS, NUMBERS, Emitter, Site, Var

CASTS = {
    "float32": "fp32",
    "float16": "fp16",
    "int32": "int32",
    "int64": "int32",
    "bool": "bool",
}
"""MIL's dtype for each of ONNX's that a package can hold."""


def _unary(name: str, dtypes: frozenset[str] = FLOATS) -> Emitter:
    def emit(site: Site) -> Var:
        site.only(*dtypes)
        return getattr(site.mb, name)(x=site.x())

    return emit


def _neg(site: Site) -> Var:
    site.only(*NUMBERS)
    return site.mb.mul(x=site.x(), y=site.scalar(-1))


def _reciprocal(site: Site) -> Var:
    """A division: MIL's `inverse` adds an epsilon."""
    site.only(*FLOATS)
    return site.mb.real_div(x=site.scalar(1), y=site.x())


def _log(site: Site) -> Var:
    """Without the epsilon that MIL adds by default, with which log(0) were -103."""
    site.only(*FLOATS)
    return site.mb.log(x=site.x(), epsilon=site.scalar(0))


def _is_nan(site: Site) -> Var:
    site.only(*FLOATS)
    x = site.x()
    return site.mb.not_equal(x=x, y=x)


def _binary(name: str, dtypes: frozenset[str] = NUMBERS) -> Emitter:
    def emit(site: Site) -> Var:
        site.only(*dtypes)
        return getattr(site.mb, name)(x=site.x(0), y=site.x(1))

    return emit


def _mod(site: Site) -> Var:
    """The sign of the divisor, as MIL's; `fmod` has the dividend's."""
    site.only("int32")
    if site.attribute("fmod", 0):
        site.refuse("fmod is 1")
    return site.mb.mod(x=site.x(0), y=site.x(1))


def _variadic(name: str) -> Emitter:
    def emit(site: Site) -> Var:
        site.only(*NUMBERS)
        values = site.all()
        if len(values) == 1:
            return site.mb.identity(x=values[0])
        return reduce(lambda a, b: getattr(site.mb, name)(x=a, y=b), values)

    return emit


def _mean(site: Site) -> Var:
    site.only(*FLOATS)
    total = _variadic("add")(site)
    return site.mb.mul(x=total, y=site.scalar(1 / len(site.values)))


def _clip(site: Site) -> Var:
    """The lower limit first, so that the upper one wins where they cross, as ONNX says."""
    site.only(*NUMBERS)
    made = site.x()
    if site.present(1):
        made = site.mb.maximum(x=made, y=site.x(1))
    if site.present(2):
        made = site.mb.minimum(x=made, y=site.x(2))
    return made if made is not site.values[0] else site.mb.identity(x=made)


def _comparison(name: str) -> Emitter:
    """64-bit integers too: those of a package fit 32 bits. Truth values compare as integers."""

    def emit(site: Site) -> Var:
        a, b = site.x(0), site.x(1)
        if site.dtypes[0] == "bool":
            a, b = (site.mb.cast(x=one, dtype="int32") for one in (a, b))
        return getattr(site.mb, name)(x=a, y=b)

    return emit


def _logical(name: str) -> Emitter:
    def emit(site: Site) -> Var:
        return getattr(site.mb, name)(x=site.x(0), y=site.x(1))

    return emit


def where(site: Site) -> Var:
    """All three at the result's shape: MIL infers it from the two values alone."""
    shape = np.broadcast_shapes(site.shape(0), site.shape(1), site.shape(2))
    cond, a, b = (site.broadcast(site.x(index), shape) for index in range(3))
    return site.mb.select(cond=cond, a=a, b=b)


def cast(site: Site) -> Var:
    """To a type that a package can hold; what is not zero is true."""
    from rlx.program.schemas import DTYPE_NAMES

    wanted = DTYPE_NAMES.get(site.attribute("to"), "")
    if wanted not in CASTS:
        site.refuse(f"a package can't hold {wanted or 'its result'}")
    source = site.dtypes[0]
    if wanted == "int64" and source in FLOATS:
        site.refuse("a package holds int64 as int32, which a float may exceed")
    x: Any = site.x()
    if wanted == "bool" and source != "bool":
        return site.mb.not_equal(x=x, y=site.scalar(0))
    if CASTS[wanted] == CASTS[source]:
        return site.mb.identity(x=x)
    return site.mb.cast(x=x, dtype=CASTS[wanted])


def _not(site: Site) -> Var:
    return site.mb.logical_not(x=site.x())


EMITTERS: dict[str, Emitter] = {
    **{
        name: _unary(name.lower())
        for name in ("Ceil", "Floor", "Round", "Sqrt", "Exp", "Erf", "Sin", "Cos", "Tan")
    },
    **{name: _unary(name.lower()) for name in ("Asin", "Acos", "Atan", "Sinh", "Cosh")},
    **{name: _unary(name.lower()) for name in ("Tanh", "Atanh")},
    "Abs": _unary("abs", NUMBERS),
    "Sign": _unary("sign", NUMBERS),
    "Neg": _neg,
    "Reciprocal": _reciprocal,
    "Log": _log,
    "IsNaN": _is_nan,
    "Add": _binary("add"),
    "Sub": _binary("sub"),
    "Mul": _binary("mul"),
    "Div": _binary("real_div", FLOATS),
    "Pow": _binary("pow", FLOATS),
    "Mod": _mod,
    "Max": _variadic("maximum"),
    "Min": _variadic("minimum"),
    "Sum": _variadic("add"),
    "Mean": _mean,
    "Clip": _clip,
    "Equal": _comparison("equal"),
    "Greater": _comparison("greater"),
    "GreaterOrEqual": _comparison("greater_equal"),
    "Less": _comparison("less"),
    "LessOrEqual": _comparison("less_equal"),
    "And": _logical("logical_and"),
    "Or": _logical("logical_or"),
    "Xor": _logical("logical_xor"),
    "Not": _not,
    "Where": where,
    "Cast": cast,
}
