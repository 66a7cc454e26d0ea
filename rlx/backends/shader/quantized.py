"""Products of 8-bit integers without float64: long sums in int32, scales by whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

import rlx.backends.shader.namespace as functions
from rlx.backends.array.kernels.quantization import limits
from rlx.backends.array.kernels.quantized_products import channels, result_of, rows, shifted
from rlx.backends.array.site import Fresh
from rlx.backends.shader.overrides import convolved
from rlx.backends.shader.tensor import Tensor

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site

xp: Any = functions


def summing(depth: int) -> Any:
    """The dtype that sums so many products of 8-bit differences without rounding."""
    return xp.float32 if depth * 255 * 255 < 1 << 24 else xp.int32


def matmul_integer(site: Site) -> Kernel:
    """Build MatMulInteger."""
    del site

    def run(a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
        work = summing(a.shape[-1])
        left = shifted(xp, a, rows(xp, a_zero), work)
        return xp.astype(xp.matmul(left, shifted(xp, b, b_zero, work)), xp.int32)

    return Fresh(run)


def conv_integer(site: Site) -> Kernel:
    """Build ConvInteger."""

    def run(x: Any, w: Any, x_zero: Any = None, w_zero: Any = None) -> Any:
        return _convolved(site, x, x_zero, w, w_zero)

    return Fresh(run)


def _convolved(site: Site, x: Any, x_zero: Any, w: Any, w_zero: Any) -> Any:
    """The convolution of what is above the zero points, as int32."""
    work = summing(prod(w.shape[1:]))
    image = shifted(xp, x, None if x_zero is None else xp.reshape(x_zero, ()), work)
    weights = shifted(xp, w, channels(xp, w_zero, w.ndim), work)
    return xp.astype(convolved(site.attributes, image, weights), xp.int32)


def qlinear_matmul(site: Site) -> Kernel:
    """Build QLinearMatMul."""
    name = result_of(site)

    def run(
        a: Any,
        a_scale: Any,
        a_zero: Any,
        b: Any,
        b_scale: Any,
        b_zero: Any,
        y_scale: Any,
        y_zero: Any,
    ) -> Any:
        work = summing(a.shape[-1])
        left = shifted(xp, a, rows(xp, a_zero), work)
        product = xp.matmul(left, shifted(xp, b, b_zero, work))
        scale = rows(xp, a_scale) * b_scale / rows(xp, y_scale)
        return _stored(xp.astype(product, xp.int32), scale, rows(xp, y_zero), name)

    return Fresh(run)


def qlinear_conv(site: Site) -> Kernel:
    """Build QLinearConv."""
    name = result_of(site)

    def run(
        x: Any,
        x_scale: Any,
        x_zero: Any,
        w: Any,
        w_scale: Any,
        w_zero: Any,
        y_scale: Any,
        y_zero: Any,
        bias: Any = None,
    ) -> Any:
        y = _convolved(site, x, x_zero, w, w_zero)
        if bias is not None:
            y = y + channels(xp, bias, w.ndim - 1)
        scale = channels(xp, w_scale, w.ndim - 1) * xp.reshape(x_scale / y_scale, ())
        return _stored(y, scale, xp.reshape(y_zero, ()), name)

    return Fresh(run)


def _stored(total: Tensor, scale: Any, zero: Any, name: str) -> Any:
    """round(total * scale) + zero, saturated to an integer dtype: exact, halves to even.

    The digits of the scale times the total are a whole number of 64 bits, of which those behind
    the point are cut off and looked at.
    """
    bits = xp.bitcast(xp.astype(scale, xp.float32), xp.int32)
    exponent = (bits >> 23) & 255
    digits = xp.astype((bits & 0x007FFFFF) | 0x00800000, xp.int64)
    number = xp.astype(total, xp.int64) * xp.where(exponent == 0, 0, digits)
    behind = xp.astype(xp.clip(150 - exponent, 1, 62), xp.int64)
    # a scale of 2^23 and more, of a number that is not 0, is beyond all that 8 bits hold
    number = xp.where(exponent > 149, number * 256, number)
    floor = number >> behind
    rest, half = number - (floor << behind), _one() << (behind - 1)
    up = (rest > half) | ((rest == half) & ((floor & 1) == 1))
    found = floor + xp.astype(up, xp.int64)
    low, high = limits(name)
    found = xp.clip(found, -(1 << 30), 1 << 30) + xp.astype(zero, xp.int64)
    return xp.astype(xp.clip(found, low, high), xp.int8 if low else xp.uint8)


def _one() -> Tensor:
    return Tensor.of_host(np.ones((), np.int64))


OVERRIDES: Mapping[str, Builder] = MappingProxyType(
    {
        "MatMulInteger": matmul_integer,
        "ConvInteger": conv_integer,
        "QLinearMatMul": qlinear_matmul,
        "QLinearConv": qlinear_conv,
    }
)
