"""Kernels that NumPy has a shorter way for: one call, or memory written over."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.backends.array.kernels.indexing import gather
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Builder, Fresh, Kernel, Site

Array = np.ndarray[Any, Any]
CLIPPED = frozenset({"float32", "float64", "int32", "int64"})
"""The dtypes that `numpy.clip` takes the bounds of as they are."""


def _relu(_: Site) -> Kernel:
    return Fresh(lambda x: np.maximum(x, 0), lambda x, out: np.maximum(x, 0, out=out))


def _clip(site: Site) -> Kernel:
    """The same as Min(max, Max(input, min)): where min is above max, everything is max."""
    low, high = (bound is not None for bound in [*site.inputs, None, None][1:3])
    if not (low or high):
        return lambda x, *_: x
    if not high:
        return Fresh(lambda x, low, *_: np.maximum(x, low))
    if not low:
        return Fresh(lambda x, _, high: np.minimum(x, high))
    if site.inputs[0] is not None and site.inputs[0].dtype in CLIPPED:
        # both at once, which is several times faster beside bounds of one number
        return Fresh(np.clip, np.clip)

    def into(x: Array, low: Array, high: Array, out: Array) -> Array:
        return np.minimum(np.maximum(x, low, out=out), high, out=out)

    return Fresh(lambda x, low, high: np.minimum(np.maximum(x, low), high), into)


def _softmax(site: Site) -> Kernel:
    axis = site.attributes.get("axis", -1)

    def into(x: Array, out: Array) -> Array:
        if 0 in x.shape:
            return out
        np.subtract(x, np.max(x, axis=axis, keepdims=True), out=out)
        np.exp(out, out=out)
        out /= np.sum(out, axis=axis, keepdims=True)
        return out

    return Fresh(lambda x: into(x, np.empty_like(x)), into)


def _rounding_softmax(site: Site) -> Kernel:
    """NumPy rounds float16 after each step, as ONNX's definition by steps of float16 does."""
    first = site.inputs[0]
    if first is not None and first.dtype == "float16":
        return _softmax(site)
    return widened(_softmax)(site)


def _gather(site: Site) -> Kernel:
    constant = site.constants[1]
    if constant is not None and constant.ndim == 0:
        return gather(site)
    axis = site.attributes.get("axis", 0)
    return Fresh(lambda x, at: np.take(x, at, axis))


def _concat(site: Site) -> Kernel:
    axis = site.attributes["axis"]
    return Fresh(lambda *inputs: np.concatenate(inputs, axis))


def _transpose(site: Site) -> Kernel:
    order = site.attributes.get("perm")
    if order is None:
        return lambda x: x.transpose()
    return lambda x: x.transpose(order)


OVERRIDES: dict[str, Builder] = {
    "Relu": _relu,
    "Clip": _clip,
    "Softmax": _rounding_softmax,
    "Gather": _gather,
    "Concat": _concat,
    "Transpose": _transpose,
}
