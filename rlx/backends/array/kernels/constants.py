"""Values that come from attributes, shapes and counts rather than from the data."""

from __future__ import annotations

import math

import numpy as np

from rlx.backends.array.dtypes import CODES, HALVES, numpy_dtype
from rlx.backends.array.kernels.operands import ints
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

_FORMS = {
    "value_float": "float32",
    "value_floats": "float32",
    "value_int": "int64",
    "value_ints": "int64",
    "value_string": "string",
    "value_strings": "string",
}
"""The dtype of each attribute that is not a tensor."""


def _constant(site: Site) -> Kernel:
    xp = site.xp
    for form, value in site.attributes.items():
        dtype = _FORMS.get(form)
        if dtype is not None:
            array = xp.asarray(value, dtype=site.dtype(dtype))
            return lambda: array
        if form == "value":
            array = xp.asarray(value)
            return lambda: array
    raise NotImplementedError("a sparse constant")


def _constant_of_shape(site: Site) -> Kernel:
    xp = site.xp
    value = site.attributes.get("value")
    scalar = np.zeros((), np.float32) if value is None else np.asarray(value).reshape(())
    filler = xp.asarray(scalar)

    def fill(shape: Array) -> Array:
        return xp.asarray(xp.broadcast_to(filler, ints(shape)), copy=True)

    return Fresh(fill)


def _identity(_: Site) -> Kernel:
    return lambda x: x


def _shape(site: Site) -> Kernel:
    xp = site.xp
    window = slice(site.attributes.get("start", 0), site.attributes.get("end"))
    return Fresh(lambda x: xp.asarray(x.shape[window], dtype=xp.int64))


def _size(site: Site) -> Kernel:
    xp = site.xp
    return Fresh(lambda x: xp.asarray(math.prod(x.shape), dtype=xp.int64))


def _eye_like(site: Site) -> Kernel:
    xp = site.xp
    offset = site.attributes.get("k", 0)
    code = site.attributes.get("dtype")
    dtype = None if code is None else site.dtype(CODES[code])

    def eye(x: Array) -> Array:
        rows, columns = x.shape
        return xp.eye(rows, columns, k=offset, dtype=x.dtype if dtype is None else dtype)

    return Fresh(eye)


def _range(site: Site) -> Kernel:
    """`start + i * delta`, the narrow floats in float32 unless `stash_type` says float64."""
    to_native = site.library.to_native
    first = site.inputs[0]
    narrow = first is not None and first.dtype in HALVES
    stash = numpy_dtype(CODES[site.attributes.get("stash_type", 1)]) if narrow else None

    def count_up(start: Array, limit: Array, delta: Array) -> Array:
        dtype = start.dtype
        if narrow:
            start, limit, delta = (x.astype(stash) for x in (start, limit, delta))
        low, high, step = (x.reshape(()).tolist() for x in (start, limit, delta))
        count = max(math.ceil((high - low) / step), 0)
        if isinstance(low, int):
            count = max(-((low - high) // step), 0)
        places = np.arange(count, dtype=start.dtype)
        return to_native((places * delta + start).astype(dtype))

    return Fresh(count_up)


def _dropout(site: Site) -> Kernel:
    """Passes the data through, unless `training_mode` is true.

    In training the values to drop come from NumPy's Mersenne Twister, seeded with `seed`: the
    numbers that ONNX's own test suite expects.
    """
    xp = site.xp
    seed = site.attributes.get("seed")

    def run(x: Array, ratio: Array | None = None, mode: Array | None = None) -> object:
        rate = 0.5 if ratio is None else float(ratio)
        if mode is None or not bool(mode) or rate == 0:
            mask = xp.ones(x.shape, dtype=xp.bool) if site.outputs > 1 else None
            return (x, mask) if site.outputs > 1 else x
        uniform = np.random.RandomState(seed).uniform(0, 1.0, tuple(x.shape))
        mask = xp.asarray(uniform >= rate)
        y = xp.astype(mask * x * (1 / (1 - rate)), x.dtype)
        return (y, mask) if site.outputs > 1 else y

    return run


HOST = {"ConstantOfShape": (0,), "Range": (0, 1, 2), "Dropout": (1, 2)}
KERNELS: dict[str, Builder] = {
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Identity": _identity,
    "Shape": _shape,
    "Size": _size,
    "EyeLike": _eye_like,
    "Range": _range,
    "Dropout": _dropout,
}
