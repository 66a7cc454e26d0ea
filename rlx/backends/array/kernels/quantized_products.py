"""QLinearMatMul, QLinearConv, MatMulInteger and ConvInteger: exact products of 8-bit integers.

Products run in floating point, where array libraries are fast. They are exact: float32 holds
integers up to 2**24, and float64 those up to 2**53.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.convolution import planner
from rlx.backends.array.kernels.quantization import quantize
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.backends.array.site import Builder, Kernel, Site


def exact(xp: Any, depth: int) -> Any:
    """The float dtype that sums `depth` products of 8-bit differences without rounding."""
    return xp.float32 if depth * 255 * 255 < 1 << 24 else xp.float64


def shifted(xp: Any, x: Any, zero: Any, dtype: Any) -> Any:
    """x - zero as floats."""
    y = xp.astype(x, dtype)
    return y if zero is None else y - xp.astype(zero, dtype)


def held(
    site: Site,
    index: int,
    zero_index: int,
    shape: Callable[[Any, Any], Any],
    depth: Callable[[Any], int],
) -> Callable[[Any, Any, Any], Any]:
    """`shifted` for one operand, worked out here, once, where it and its zero point are constant.

    `shape(value, zero)` shapes the zero point to broadcast; `depth(value)` is how many products
    are summed.
    """
    xp = site.xp
    fixed = site.constants[index] is not None and (
        zero_index >= len(site.inputs)
        or site.inputs[zero_index] is None
        or site.constants[zero_index] is not None
    )
    if not fixed:
        return lambda x, zero, dtype: shifted(xp, x, shape(x, zero), dtype)
    value = site.constants[index]
    zero = site.constants[zero_index] if zero_index < len(site.constants) else None
    kept = shifted(xp, value, shape(value, zero), exact(xp, depth(value)))
    return lambda *_: kept


def _rows_summed(b: Any) -> int:
    return int(b.shape[-2] if b.ndim > 1 else b.shape[0])


def _taps_summed(w: Any) -> int:
    return prod(w.shape[1:])


def rows(xp: Any, value: Any) -> Any:
    """A per-row operand of a matrix, shaped to broadcast; a scalar as it is."""
    if value is None or value.ndim == 0 or prod(value.shape) == 1:
        return None if value is None else xp.reshape(value, ())
    return value[:, None] if value.ndim == 1 else value


def channels(xp: Any, value: Any, ndim: int) -> Any:
    """A per-channel operand of convolution weights, shaped to broadcast; a scalar as it is."""
    if value is None or value.ndim == 0 or prod(value.shape) == 1:
        return None if value is None else xp.reshape(value, ())
    return xp.reshape(value, (-1, *(1,) * (ndim - 1)))


def to_int32(xp: Any, y: Any) -> Any:
    """Exact integers as int32, wrapping around as integer sums do."""
    return xp.astype(xp.astype(y, xp.int64), xp.int32)


def matmul_integer(site: Site) -> Kernel:
    """Build MatMulInteger."""
    xp = site.xp
    right = held(site, 1, 3, lambda _, zero: zero, _rows_summed)

    def run(a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
        work = exact(xp, a.shape[-1])
        left = shifted(xp, a, rows(xp, a_zero), work)
        return to_int32(xp, xp.matmul(left, right(b, b_zero, work)))

    return Fresh(run)


def conv_integer(site: Site) -> Kernel:
    """Build ConvInteger."""
    xp, find = site.xp, planner(site)
    kernels = held(site, 1, 3, lambda w, zero: channels(xp, zero, w.ndim), _taps_summed)

    def run(x: Any, w: Any, x_zero: Any = None, w_zero: Any = None) -> Any:
        work = exact(xp, prod(w.shape[1:]))
        image = shifted(xp, x, None if x_zero is None else xp.reshape(x_zero, ()), work)
        weights = kernels(w, w_zero, work)
        return to_int32(xp, find(image, weights)(image, weights))

    return Fresh(run)


def qlinear_matmul(site: Site) -> Kernel:
    """Build QLinearMatMul for 8-bit integers."""
    xp, name = site.xp, result_of(site)
    right = held(site, 3, 5, lambda _, zero: zero, _rows_summed)

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
        work = exact(xp, a.shape[-1])
        product = xp.matmul(shifted(xp, a, rows(xp, a_zero), work), right(b, b_zero, work))
        scale = rows(xp, a_scale) * b_scale / rows(xp, y_scale)
        ratio = xp.astype(product, xp.float64) * xp.astype(scale, xp.float64)
        return quantize(site, ratio, rows(xp, y_zero), name)

    return Fresh(run)


def qlinear_conv(site: Site) -> Kernel:
    """Build QLinearConv."""
    xp, name, find = site.xp, result_of(site), planner(site)
    kernels = held(site, 3, 5, lambda w, zero: channels(xp, zero, w.ndim), _taps_summed)

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
        work = exact(xp, prod(w.shape[1:]))
        image = shifted(xp, x, xp.reshape(x_zero, ()), work)
        weights = kernels(w, w_zero, work)
        y = xp.astype(find(image, weights)(image, weights), xp.float64)
        if bias is not None:
            y = y + xp.astype(channels(xp, bias, w.ndim - 1), xp.float64)
        scale = channels(xp, w_scale, w.ndim - 1) * xp.reshape(x_scale / y_scale, ())
        return quantize(site, y * xp.astype(scale, xp.float64), xp.reshape(y_zero, ()), name)

    return Fresh(run)


def result_of(site: Site) -> str:
    """The output's dtype.

    Raises:
        NotImplementedError: an operand is not an 8-bit integer.
    """
    for index in (0, 3, 7):
        operand = site.inputs[index]
        if operand is None or operand.dtype not in {"int8", "uint8"}:
            given = "unknown" if operand is None else operand.dtype
            raise NotImplementedError(f"operand {index} is {given}; int8 and uint8 are supported")
    zero = site.inputs[7]
    assert zero is not None
    return zero.dtype


KERNELS: dict[str, Builder] = {
    "MatMulInteger": matmul_integer,
    "ConvInteger": conv_integer,
    "QLinearMatMul": qlinear_matmul,
    "QLinearConv": qlinear_conv,
}
