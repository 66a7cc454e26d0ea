"""Softmax, LogSoftmax and Hardmax along one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site


def softmax_along(xp: Any, x: Any, axis: int) -> Any:
    """exp(x) / sum(exp(x)), shifted by the maximum so that nothing overflows; a new array."""
    y = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    y /= xp.sum(y, axis=axis, keepdims=True)
    return y


def log_softmax_along(xp: Any, x: Any, axis: int) -> Any:
    """x - log(sum(exp(x))), shifted by the maximum so that nothing overflows; a new array."""
    y = x - xp.max(x, axis=axis, keepdims=True)
    y -= xp.log(xp.sum(xp.exp(y), axis=axis, keepdims=True))
    return y


def softmax(site: Site) -> Kernel:
    """Build Softmax."""
    xp, axis = site.xp, site.attributes.get("axis", -1)
    return Fresh(lambda x: softmax_along(xp, x, axis) if 0 not in x.shape else xp.zeros_like(x))


def log_softmax(site: Site) -> Kernel:
    """Build LogSoftmax."""
    xp, axis = site.xp, site.attributes.get("axis", -1)
    return Fresh(lambda x: log_softmax_along(xp, x, axis) if 0 not in x.shape else xp.zeros_like(x))


def hardmax(site: Site) -> Kernel:
    """Build Hardmax: one at the first maximum, zero elsewhere."""
    xp, axis = site.xp, site.attributes.get("axis", -1)

    def run(x: Any) -> Any:
        if 0 in x.shape:
            return xp.zeros_like(x)
        first = xp.argmax(x, axis=axis, keepdims=True)
        line = [1] * x.ndim
        line[axis] = x.shape[axis]
        places = xp.reshape(xp.arange(x.shape[axis], dtype=first.dtype), tuple(line))
        return xp.astype(places == first, x.dtype)

    return Fresh(run)


KERNELS: dict[str, Builder] = {
    "Softmax": widened(softmax),
    "LogSoftmax": widened(log_softmax),
    "Hardmax": widened(hardmax),
}
