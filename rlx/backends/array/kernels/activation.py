"""Activation functions, written for float32 and float64; the narrow floats are widened."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rlx.backends.array.kernels.error_function import erf
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.native import is_integer
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def _simple(make: Callable[[Any, Site], Kernel]) -> Builder:
    """A builder whose kernel makes new memory, in at least float32."""
    return widened(lambda site: Fresh(make(site.xp, site)))


def _plain(function: Callable[[Any, Array], Array]) -> Builder:
    """A builder for a function without parameters."""

    def make(xp: Any, _: Site) -> Kernel:
        return lambda x: function(xp, x)

    return _simple(make)


def _relu(site: Site) -> Kernel:
    xp = site.xp
    return Fresh(lambda x: xp.maximum(x, xp.zeros_like(x)))


def _leaky_relu(xp: Any, site: Site) -> Kernel:
    alpha = site.attributes.get("alpha", 0.01)
    if 0 <= alpha <= 1:
        return lambda x: xp.maximum(x, x * alpha)
    return lambda x: xp.where(x < 0, x * alpha, x)


def _thresholded_relu(xp: Any, site: Site) -> Kernel:
    alpha = site.attributes.get("alpha", 1.0)
    return lambda x: xp.where(x > alpha, x, xp.zeros_like(x))


def _elu(xp: Any, site: Site) -> Kernel:
    alpha = site.attributes.get("alpha", 1.0)
    return lambda x: xp.where(x < 0, xp.expm1(x) * alpha, x)


def _selu(xp: Any, site: Site) -> Kernel:
    alpha = site.attributes.get("alpha", 1.67326319217681884765625)
    gamma = site.attributes.get("gamma", 1.05070102214813232421875)
    return lambda x: xp.where(x > 0, x, xp.expm1(x) * alpha) * gamma


def _celu(xp: Any, site: Site) -> Kernel:
    alpha = site.attributes.get("alpha", 1.0)
    return lambda x: xp.maximum(x, 0.0) + xp.minimum(xp.expm1(x / alpha) * alpha, 0.0)


def sigmoid(xp: Any, x: Array) -> Array:
    """1 / (1 + e^-x)."""
    total = xp.exp(-x)
    total += 1.0
    return 1.0 / total


def _hard_sigmoid(xp: Any, site: Site) -> Kernel:
    alpha = site.attributes.get("alpha", 0.2)
    beta = site.attributes.get("beta", 0.5)
    return lambda x: xp.minimum(xp.maximum(x * alpha + beta, 0.0), 1.0)


def _hard_swish(xp: Any, x: Array) -> Array:
    return x * xp.minimum(xp.maximum(x / 6.0 + 0.5, 0.0), 1.0)


def _swish(xp: Any, site: Site) -> Kernel:
    alpha = site.attributes.get("alpha", 1.0)
    if alpha == 1.0:
        return lambda x: x / (xp.exp(-x) + 1.0)
    return lambda x: x / (xp.exp(x * -alpha) + 1.0)


def _swiglu(xp: Any, site: Site) -> Kernel:
    swish = _swish(xp, site)
    return lambda gate, value: swish(gate) * value


def softplus(xp: Any, x: Array) -> Array:
    """log(1 + e^x), without overflow."""
    return xp.maximum(x, 0.0) + xp.log1p(xp.exp(-xp.abs(x)))


def _softsign(xp: Any, x: Array) -> Array:
    return x / (xp.abs(x) + 1.0)


def _mish(xp: Any, x: Array) -> Array:
    return x * xp.tanh(softplus(xp, x))


def _gelu(xp: Any, site: Site) -> Kernel:
    if site.attributes.get("approximate", "none") == "tanh":
        scale = math.sqrt(2.0 / math.pi)
        return lambda x: 0.5 * x * (xp.tanh((x + 0.044715 * x * x * x) * scale) + 1.0)
    half = math.sqrt(0.5)
    return lambda x: 0.5 * x * (erf(xp, x * half) + 1.0)


def _shrink(site: Site) -> Kernel:
    """Integers are computed in float64 and rounded toward zero."""
    xp = site.xp
    bias = site.attributes.get("bias", 0.0)
    limit = site.attributes.get("lambd", 0.5)

    def shrink(x: Array) -> Array:
        wide = xp.astype(x, xp.float64) if is_integer(xp, x.dtype) else x
        zero = xp.zeros_like(wide)
        high = xp.where(wide > limit, wide - bias, zero)
        return xp.astype(xp.where(wide < -limit, wide + bias, high), x.dtype)

    return Fresh(shrink)


def _clip(site: Site) -> Kernel:
    """The same as Min(max, Max(input, min)): where min is above max, everything is max."""
    xp = site.xp
    bounds = [*site.inputs, None, None][1:3]
    low, high = (bound is not None for bound in bounds)
    if not (low or high):
        return lambda x, *_: x
    if not high:
        return Fresh(lambda x, low, *_: xp.maximum(x, low))
    if not low:
        return Fresh(lambda x, _, high: xp.minimum(x, high))
    return Fresh(lambda x, low, high: xp.minimum(xp.maximum(x, low), high))


KERNELS: dict[str, Builder] = {
    "Relu": _relu,
    "LeakyRelu": _simple(_leaky_relu),
    "ThresholdedRelu": _simple(_thresholded_relu),
    "Elu": _simple(_elu),
    "Selu": _simple(_selu),
    "Celu": _simple(_celu),
    "Sigmoid": _plain(sigmoid),
    "HardSigmoid": _simple(_hard_sigmoid),
    "HardSwish": _plain(_hard_swish),
    "Swish": _simple(_swish),
    "SwiGLU": _simple(_swiglu),
    "Softplus": _plain(softplus),
    "Softsign": _plain(_softsign),
    "Mish": _plain(_mish),
    "Gelu": _simple(_gelu),
    "Shrink": widened(_shrink),
    "Clip": _clip,
}
