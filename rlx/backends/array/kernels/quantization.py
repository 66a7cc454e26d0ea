"""QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from rlx.backends.array.dtypes import CODES, INTEGERS, SIGNED, bits
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site

LARGEST = {
    "float8e4m3fn": 448.0,
    "float8e4m3fnuz": 240.0,
    "float8e5m2": 57344.0,
    "float8e5m2fnuz": 57344.0,
}
"""The largest finite value of each 8-bit float that can overflow.

Their zero points only say what dtype is meant, as in every engine.
"""


def limits(name: str) -> tuple[int, int]:
    """The smallest and largest value of an integer dtype."""
    width = bits(name)
    return (-(1 << width - 1), (1 << width - 1) - 1) if name in SIGNED else (0, (1 << width) - 1)


def spread(xp: Any, value: Any, shape: tuple[int, ...], axis: int, block: int) -> Any:
    """A scale or zero point shaped to broadcast: for the tensor, per axis, or per block."""
    if value.ndim == 0 or prod(value.shape) == 1:
        return xp.reshape(value, ())
    if not block:
        return xp.reshape(
            value, tuple(-1 if i == axis % len(shape) else 1 for i in range(len(shape)))
        )
    axis %= len(shape)
    repeated = xp.repeat(value, block, axis=axis)
    return repeated[(*(slice(None),) * axis, slice(shape[axis]), ...)]


def quantize(site: Site, ratio: Any, zero: Any, name: str) -> Any:
    """round(ratio) + zero, saturated to an integer dtype; ties go to even, NaN to the lowest."""
    xp = site.xp
    low, high = limits(name)
    y = xp.round(ratio)
    if zero is not None:
        y = y + xp.astype(zero, y.dtype)
    y = xp.clip(y, low, high)
    return xp.astype(xp.where(xp.isnan(y), xp.full_like(y, low), y), site.dtype(name))


def quantize_linear(site: Site) -> Kernel:
    """Build QuantizeLinear."""
    xp, attributes = site.xp, site.attributes
    axis, block = attributes.get("axis", 1), attributes.get("block_size", 0)
    saturate = bool(attributes.get("saturate", 1))
    zero_type = site.inputs[2] if len(site.inputs) > 2 else None
    if zero_type is not None:
        name = zero_type.dtype
    else:
        name = CODES[attributes.get("output_dtype", 0) or 2]
    scale_type = site.inputs[1]
    precision = attributes.get("precision", 0)
    if precision:
        work = site.dtype(CODES[precision])
    elif scale_type is not None and scale_type.dtype in {"float16", "bfloat16", "float64"}:
        work = site.dtype(scale_type.dtype)
    else:
        work = xp.float32

    def run(x: Any, scale: Any, zero: Any = None) -> Any:
        divisor = xp.astype(spread(xp, scale, x.shape, axis, block), work)
        ratio = xp.astype(xp.divide(xp.astype(x, work), divisor), xp.float32)
        if zero is not None:
            zero = spread(xp, zero, x.shape, axis, block)
        if name in INTEGERS:
            return quantize(site, ratio, zero, name)
        if zero is not None and name not in LARGEST:
            ratio = ratio + xp.astype(zero, xp.float32)
        if saturate and name in LARGEST:
            ratio = xp.clip(ratio, -LARGEST[name], LARGEST[name])
        return xp.astype(ratio, site.dtype(name))

    return Fresh(run)


def dequantize_linear(site: Site) -> Kernel:
    """Build DequantizeLinear."""
    xp, attributes = site.xp, site.attributes
    axis, block = attributes.get("axis", 1), attributes.get("block_size", 0)
    code = attributes.get("output_dtype", 0)
    operand = site.inputs[0]
    wide = operand is not None and operand.dtype == "int32"
    shifted = operand is None or operand.dtype not in {*LARGEST, "float4e2m1"}

    def run(x: Any, scale: Any, zero: Any = None) -> Any:
        y = xp.astype(x, xp.float64 if wide else xp.float32)
        if zero is not None and shifted:
            y = y - xp.astype(spread(xp, zero, x.shape, axis, block), y.dtype)
        y = y * xp.astype(spread(xp, scale, x.shape, axis, block), y.dtype)
        return xp.astype(y, site.dtype(CODES[code]) if code else scale.dtype)

    return Fresh(run)


def dynamic_quantize_linear(site: Site) -> Kernel:
    """Build DynamicQuantizeLinear: scale and zero point from the range, which includes zero.

    Where infinities, or a scale that underflows, leave a quotient undefined, the zero point is 255
    and the value 0, as in ONNX's reference and in onnxruntime.
    """
    xp = site.xp

    def run(x: Any) -> Any:
        nothing = xp.zeros((), dtype=x.dtype)
        high = xp.maximum(xp.max(x), nothing) if 0 not in x.shape else nothing
        low = xp.minimum(xp.min(x), nothing) if 0 not in x.shape else nothing
        span = high - low
        scale = xp.divide(
            xp.where(span == 0, xp.ones_like(nothing), span), xp.asarray(255, dtype=x.dtype)
        )
        zero = -low / scale
        zero = xp.where(xp.isnan(zero), xp.full_like(zero, 255), xp.round(xp.clip(zero, 0, 255)))
        y = xp.round(xp.divide(x, scale)) + zero
        y = xp.where(xp.isnan(y), xp.zeros_like(y), xp.clip(y, 0, 255))
        return xp.astype(y, xp.uint8), scale, xp.astype(zero, xp.uint8)

    return Fresh(run)


KERNELS: dict[str, Builder] = {
    "QuantizeLinear": quantize_linear,
    "DequantizeLinear": dequantize_linear,
    "DynamicQuantizeLinear": dynamic_quantize_linear,
}
