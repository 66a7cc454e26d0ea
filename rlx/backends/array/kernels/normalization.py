"""BatchNormalization, LRN, and the normalizations over axes of one example."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.operands import axis_within
from rlx.backends.array.kernels.reduction import average
from rlx.backends.array.kernels.updates import add
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.native import is_numpy
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site


def per_channel(xp: Any, values: Any, ndim: int) -> Any:
    """One value per channel, shaped to broadcast over an (N, C, …) array."""
    return xp.reshape(values, (-1, *(1,) * (ndim - 2)))


def standardized(xp: Any, x: Any, axes: tuple[int, ...], epsilon: float) -> tuple[Any, Any, Any]:
    """(x - mean) / sqrt(var + epsilon) as a new array, the mean, and the inverse deviation."""
    middle = average(xp, x, axes, True)
    y = x - middle
    inverse = 1 / xp.sqrt(average(xp, y * y, axes, True) + epsilon)
    y *= inverse
    return y, middle, inverse


def batch_normalization(site: Site) -> Kernel:
    """Build BatchNormalization; the statistics are folded into one factor and one term."""
    xp = site.xp
    epsilon = site.attributes.get("epsilon", 1e-5)
    if site.attributes.get("training_mode", 0):
        return _batch_normalization_training(site, epsilon)

    def fold(scale: Any, bias: Any, mean: Any, variance: Any) -> tuple[Any, Any]:
        factor = scale / xp.sqrt(variance + epsilon)
        return factor, bias - mean * factor

    constants = site.constants[1:5]
    fixed = None if any(c is None for c in constants) else fold(*constants)
    shaped: dict[tuple[int, Any], tuple[Any, Any]] = {}

    def ready(x: Any, parameters: tuple[Any, ...]) -> tuple[Any, Any]:
        pair = shaped.get((x.ndim, x.dtype))
        if pair is None:
            factor, term = fixed or fold(*parameters)
            pair = (
                per_channel(xp, xp.astype(factor, x.dtype), x.ndim),
                per_channel(xp, xp.astype(term, x.dtype), x.ndim),
            )
            if fixed and is_numpy(
                xp
            ):  # elsewhere this may be a trace, whose values don't outlive it
                shaped[x.ndim, x.dtype] = pair
        return pair

    def run(x: Any, *parameters: Any) -> Any:
        factor, term = ready(x, parameters)
        y = x * factor
        y += term
        return y

    def into(x: Any, *rest: Any) -> Any:
        factor, term = ready(x, rest[:-1])
        y = xp.multiply(x, factor, out=rest[-1])
        y += term
        return y

    return Fresh(run, into if is_numpy(xp) else None)


def _batch_normalization_training(site: Site, epsilon: float) -> Kernel:
    """BatchNormalization with the batch's own statistics, and the running ones moved along."""
    xp = site.xp
    momentum = site.attributes.get("momentum", 0.9)

    def run(x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        axes = (0, *range(2, x.ndim))
        now = average(xp, x, axes, False)
        spread = average(xp, (x - per_channel(xp, now, x.ndim)) ** 2, axes, False)
        factor = scale / xp.sqrt(spread + epsilon)
        y = x * per_channel(xp, factor, x.ndim) + per_channel(xp, bias - now * factor, x.ndim)
        moved_mean = mean * momentum + now * (1 - momentum)
        moved_variance = variance * momentum + spread * (1 - momentum)
        return (
            xp.astype(y, x.dtype),
            xp.astype(moved_mean, mean.dtype),
            xp.astype(moved_variance, variance.dtype),
        )

    return Fresh(run)


def lrn(site: Site) -> Kernel:
    """Build LRN: each value is divided by a power of the squares of its channel's neighbours."""
    xp, attributes = site.xp, site.attributes
    size = attributes["size"]
    alpha, beta = attributes.get("alpha", 1e-4), attributes.get("beta", 0.75)
    bias = attributes.get("bias", 1.0)
    before, after = (size - 1) // 2, size // 2

    def run(x: Any) -> Any:
        squares = x * x
        total = xp.asarray(squares, copy=True)
        for offset in range(1, min(max(before, after), x.shape[1] - 1) + 1):
            if offset <= after:
                total = add(total, _along(None, -offset), squares[:, offset:, ...])
            if offset <= before:
                total = add(total, _along(offset, None), squares[:, :-offset, ...])
        total *= alpha / size
        total += bias
        if beta == 0.75:
            total = xp.sqrt(total)
            total *= xp.sqrt(total)
        elif beta == 0.5:
            total = xp.sqrt(total)
        else:
            total = total**beta
        return x / total

    return Fresh(run)


def _along(start: int | None, end: int | None) -> tuple[Any, ...]:
    """The index of some of the channels."""
    return (slice(None), slice(start, end), ...)


def layer_normalization(site: Site) -> Kernel:
    """Build LayerNormalization; Mean and InvStdDev are float32, whatever X is."""
    xp = site.xp
    axis, epsilon = site.attributes.get("axis", -1), site.attributes.get("epsilon", 1e-5)
    alone = site.outputs == 1

    def run(x: Any, scale: Any, bias: Any = None) -> Any:
        axes = tuple(range(axis_within(axis, x.ndim), x.ndim))
        y, middle, inverse = standardized(xp, x, axes, epsilon)
        y *= scale
        if bias is not None:
            y += bias
        if alone:
            return y
        return y, xp.astype(middle, xp.float32), xp.astype(inverse, xp.float32)

    return Fresh(run)


def rms_normalization(site: Site) -> Kernel:
    """Build RMSNormalization."""
    xp = site.xp
    types = {operand.dtype for operand in site.inputs if operand is not None}
    if len(types) > 1:  # ONNX's schema and its inference disagree about the result's
        raise NotImplementedError(f"RMSNormalization: dtypes differ: {', '.join(sorted(types))}")
    axis, epsilon = site.attributes.get("axis", -1), site.attributes.get("epsilon", 1e-5)

    def run(x: Any, scale: Any) -> Any:
        axes = tuple(range(axis_within(axis, x.ndim), x.ndim))
        y = x / xp.sqrt(average(xp, x * x, axes, True) + epsilon)
        y *= scale
        return y

    return Fresh(run)


def group_normalization(site: Site) -> Kernel:
    """Build GroupNormalization."""
    xp = site.xp
    groups, epsilon = site.attributes["num_groups"], site.attributes.get("epsilon", 1e-5)

    def run(x: Any, scale: Any, bias: Any) -> Any:
        flat = xp.reshape(x, (x.shape[0], groups, prod(x.shape[1:]) // groups))
        y = xp.reshape(standardized(xp, flat, (2,), epsilon)[0], x.shape)
        y *= per_channel(xp, scale, x.ndim)
        y += per_channel(xp, bias, x.ndim)
        return y

    return Fresh(run)


def instance_normalization(site: Site) -> Kernel:
    """Build InstanceNormalization."""
    xp, epsilon = site.xp, site.attributes.get("epsilon", 1e-5)

    def run(x: Any, scale: Any, bias: Any) -> Any:
        y, _, _ = standardized(xp, x, tuple(range(2, x.ndim)), epsilon)
        y *= per_channel(xp, scale, x.ndim)
        y += per_channel(xp, bias, x.ndim)
        return y

    return Fresh(run)


def mean_variance_normalization(site: Site) -> Kernel:
    """Build MeanVarianceNormalization."""
    xp, axes = site.xp, tuple(site.attributes.get("axes", (0, 2, 3)))

    def run(x: Any) -> Any:
        y = x - average(xp, x, axes, True)
        y /= xp.sqrt(average(xp, y * y, axes, True)) + 1e-9
        return y

    return Fresh(run)


def lp_normalization(site: Site) -> Kernel:
    """Build LpNormalization; a line whose norm is zero stays zero."""
    xp = site.xp
    axis, p = site.attributes.get("axis", -1), site.attributes.get("p", 2)

    def run(x: Any) -> Any:
        if p == 1:
            norm = xp.sum(xp.abs(x), axis=axis, keepdims=True)
        elif p == 2:
            norm = xp.sqrt(xp.sum(x * x, axis=axis, keepdims=True))
        else:
            norm = xp.sum(xp.abs(x) ** p, axis=axis, keepdims=True) ** (1 / p)
        return x / xp.where(norm == 0, xp.ones_like(norm), norm)

    return Fresh(run)


KERNELS: dict[str, Builder] = {
    "BatchNormalization": widened(batch_normalization),
    "LRN": widened(lrn),
    "LayerNormalization": widened(layer_normalization),
    "RMSNormalization": widened(rms_normalization),
    "GroupNormalization": widened(group_normalization),
    "InstanceNormalization": widened(instance_normalization),
    "MeanVarianceNormalization": widened(mean_variance_normalization),
    "LpNormalization": widened(lp_normalization),
}
