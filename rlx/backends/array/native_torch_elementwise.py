"""PyTorch's own functions of elements, called without a layer between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows

from rlx.backends.array.dtypes import INTEGERS
from rlx.backends.array.kernels.table import KERNELS
from rlx.backends.array.site import Builder, Fresh, Kernel, Site

REAL = frozenset({"float32", "float64"})
SQRT_HALF = 0.5**0.5
FLOATS = REAL | {"float16", "bfloat16"}


def only(dtypes: frozenset[str], operation: str, builder: Builder) -> Builder:
    """`builder` where the first input has one of these dtypes, else the portable kernel's."""

    def build(site: Site) -> Kernel:
        first = site.inputs[0]
        fits = first is not None and first.dtype in dtypes
        return builder(site) if fits else KERNELS[operation](site)

    return build


def _plain(function: Callable[..., Any]) -> Builder:
    return lambda _: Fresh(function)


def _with(function: Callable[..., Any], defaults: dict[str, float], **names: str) -> Builder:
    """A function with parameters: `names` maps its keywords to the node's attributes."""

    def build(site: Site) -> Kernel:
        values = {
            keyword: site.attributes.get(name, defaults[name]) for keyword, name in names.items()
        }
        return Fresh(lambda x: function(x, **values))

    return build


def _div(site: Site) -> Kernel:
    first = site.inputs[0]
    if first is not None and first.dtype in INTEGERS:
        return Fresh(lambda x, y: torch.div(x, y, rounding_mode="trunc"))
    return Fresh(torch.div)


def _gelu(site: Site) -> Kernel:
    """PyTorch's; but on CPUs its form without approximation gives NaN for infinity."""
    approximate = site.attributes.get("approximate", "none")
    if approximate == "none" and site.library.device == "cpu":
        return Fresh(lambda x: torch.erf(x * SQRT_HALF).add_(1).mul_(0.5).mul_(x))
    return Fresh(lambda x: F.gelu(x, approximate=approximate))


def _swish(site: Site) -> Kernel:
    alpha = site.attributes.get("alpha", 1.0)
    return Fresh(F.silu) if alpha == 1.0 else Fresh(lambda x: x * torch.sigmoid(x * alpha))


def _clip(site: Site) -> Kernel:
    low, high = (bound is not None for bound in [*site.inputs, None, None][1:3])
    if low and high:
        return Fresh(lambda x, low, high: torch.minimum(torch.maximum(x, low), high))
    if low:
        return Fresh(lambda x, low, *_: torch.maximum(x, low))
    return Fresh(lambda x, _, high: torch.minimum(x, high)) if high else lambda x, *_: x


def _fmod(site: Site) -> Kernel:
    return Fresh(torch.fmod if site.attributes.get("fmod", 0) else torch.remainder)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Add": torch.add,
    "Sub": torch.sub,
    "Mul": torch.mul,
    "Abs": torch.abs,
    "Neg": torch.neg,
    "Floor": torch.floor,
    "Ceil": torch.ceil,
    "Round": torch.round,
    "Sqrt": torch.sqrt,
    "Exp": torch.exp,
    "Log": torch.log,
    "Sin": torch.sin,
    "Cos": torch.cos,
    "Tan": torch.tan,
    "Tanh": torch.tanh,
    "Reciprocal": torch.reciprocal,
    "Equal": torch.eq,
    "Greater": torch.gt,
    "GreaterOrEqual": torch.ge,
    "Less": torch.lt,
    "LessOrEqual": torch.le,
    "And": torch.logical_and,
    "Or": torch.logical_or,
    "Xor": torch.logical_xor,
    "Not": torch.logical_not,
    "Where": torch.where,
    "IsNaN": torch.isnan,
}
_ACTIVATIONS: dict[str, Builder] = {
    "Relu": _plain(torch.relu),
    "Sigmoid": _plain(torch.sigmoid),
    "Erf": _plain(torch.erf),
    "Mish": _plain(F.mish),
    "Gelu": _gelu,
    "Swish": _swish,
    "Elu": _with(F.elu, {"alpha": 1.0}, alpha="alpha"),
    "LeakyRelu": _with(F.leaky_relu, {"alpha": 0.01}, negative_slope="alpha"),
    "Clip": _clip,
    "Mod": _fmod,
}
OVERRIDES: dict[str, Builder] = {
    **{name: _plain(function) for name, function in _FUNCTIONS.items()},
    **{name: only(REAL, name, builder) for name, builder in _ACTIVATIONS.items()},
    "Div": _div,
}
