"""Functions of one operand, element by element: rounding, signs, roots, exponentials, angles."""

from __future__ import annotations

from rlx.backends.array.dtypes import FLOAT8
from rlx.backends.array.kernels.error_function import erf
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.native import function
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def _function(name: str) -> Builder:
    def build(site: Site) -> Kernel:
        return function(site.xp, name)

    return build


def _round(site: Site) -> Kernel:
    """Halves go to the nearest even integer."""
    return function(site.xp, "rint" if hasattr(site.xp, "rint") else "round")


def _reciprocal(_: Site) -> Kernel:
    return Fresh(lambda x: 1.0 / x)


def _erf(site: Site) -> Kernel:
    xp = site.xp
    return Fresh(lambda x: erf(xp, x))


def _is_nan(site: Site) -> Kernel:
    return function(site.xp, "isnan")


def _is_inf(site: Site) -> Kernel:
    xp = site.xp
    positive = site.attributes.get("detect_positive", 1)
    negative = site.attributes.get("detect_negative", 1)
    first = site.inputs[0]
    narrow = first is not None and first.dtype in FLOAT8

    def is_inf(x: Array) -> Array:
        if narrow:
            x = xp.astype(x, xp.float32)
        found = xp.isinf(x)
        if not positive:
            found = found & (x < 0)
        if not negative:
            found = found & (x > 0)
        return found

    return Fresh(is_inf)


KERNELS: dict[str, Builder] = {
    "Abs": _function("abs"),
    "Neg": _function("negative"),
    "Sign": _function("sign"),
    "Floor": _function("floor"),
    "Ceil": _function("ceil"),
    "Round": _round,
    "Sqrt": _function("sqrt"),
    "Reciprocal": widened(_reciprocal),
    "Exp": _function("exp"),
    "Log": _function("log"),
    "Erf": widened(_erf),
    "Sin": _function("sin"),
    "Cos": _function("cos"),
    "Tan": _function("tan"),
    "Asin": _function("asin"),
    "Acos": _function("acos"),
    "Atan": _function("atan"),
    "Sinh": _function("sinh"),
    "Cosh": _function("cosh"),
    "Tanh": _function("tanh"),
    "Asinh": _function("asinh"),
    "Acosh": _function("acosh"),
    "Atanh": _function("atanh"),
    "BitwiseNot": _function("bitwise_invert"),
    "IsNaN": _is_nan,
    "IsInf": _is_inf,
}
