"""Conversion between dtypes: by value, and by bit pattern."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from rlx.backends.array.dtypes import CODES, FLOAT8, INTEGERS, UNSIGNED, bits, numpy_dtype
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

Converter = Callable[[Array], Array]
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")


def converter(site: Site, source: str, target: str) -> Converter:
    """The conversion from one dtype to another that `site`'s attributes ask for.

    Raises:
        NotImplementedError: strings to integers, or a dtype that the library lacks.
    """
    xp = site.xp
    if "string" in (source, target):
        return _string_converter(site, source, target)
    dtype = site.dtype(target)
    saturate = bool(site.attributes.get("saturate", 1))
    if target == "float8e8m0" and source != target:
        return _to_scale(xp, dtype, saturate, site.attributes.get("round_mode", "up"))
    if target in FLOAT8 and target != "float8e8m0" and saturate:
        return _to_float8(xp, dtype, target, source)
    if not np.can_cast(numpy_dtype(source), numpy_dtype(target), "unsafe"):  # int4 to uint4
        middle = xp.int32 if source in INTEGERS else xp.float32
        return lambda x: xp.astype(xp.astype(x, middle), dtype)
    return lambda x: xp.astype(x, dtype, copy=source != target)


def _to_float8(xp: Any, dtype: Any, target: str, source: str) -> Converter:
    """What is out of range, infinity included, becomes the largest value."""
    largest = float(ml_dtypes.finfo(numpy_dtype(target)).max)  # type: ignore[no-untyped-call]
    wide = xp.float64 if source == "float64" else xp.float32

    def convert(x: Array) -> Array:
        x = xp.astype(x, wide)
        return xp.astype(xp.minimum(xp.maximum(x, -largest), largest), dtype)

    return convert


def _to_scale(xp: Any, dtype: Any, saturate: bool, mode: str) -> Converter:
    """To float8e8m0: the power of two that `mode` rounds to, 2^-127 to 2^127, as its exponent."""
    if mode not in {"up", "down", "nearest"}:
        raise NotImplementedError(f"round_mode {mode!r}")
    if not hasattr(xp, "frexp"):
        raise NotImplementedError(f"{xp.__name__} has no frexp")

    def convert(x: Array) -> Array:
        x = xp.astype(x, xp.float32)
        fraction, exponent = xp.frexp(x)  # x = fraction * 2^exponent, fraction in [0.5, 1)
        threshold = {"up": 0.5, "nearest": 0.75, "down": 1.0}[mode]
        rounds_up = fraction >= threshold if mode == "nearest" else fraction > threshold
        code = exponent + 126 + xp.astype(rounds_up, exponent.dtype)
        code = xp.where(xp.isinf(x), xp.full_like(code, 999), code)
        code = xp.where(x == 0, xp.full_like(code, -999), code)
        inside = (code >= 0) & (code <= 254)
        limited = xp.minimum(xp.maximum(code, 0), 254)
        wrong = xp.isnan(x) if saturate else xp.isnan(x) | ~inside
        code = xp.where(wrong, xp.full_like(code, 255), limited)
        return xp.asarray(xp.astype(code, xp.uint8)).view(dtype)

    return convert


def _string_converter(site: Site, source: str, target: str) -> Converter:
    xp = site.xp
    if source == target:
        return lambda x: x
    if target == "string":
        return lambda x: xp.astype(xp.astype(x, str), site.dtype("string"))
    if target == "bool":
        raise NotImplementedError("strings to bool: ONNX leaves their meaning open")
    if target in INTEGERS:
        return _integers(target)
    onward = converter(site, "float64", target)
    return lambda x: onward(xp.astype(x, xp.float64))


def _integers(target: str) -> Converter:
    """Strings of digits, with or without a sign, as integers; anything else is an error."""
    least, most = integer_range(target)
    dtype = numpy_dtype(target)

    wide = np.int64 if least else np.uint64

    def convert(x: Array) -> Array:
        texts = x.ravel().tolist()
        if wrong := [text for text in texts if not _INTEGER.fullmatch(text)]:
            raise ValueError(f"{wrong[0]!r} is no integer")
        numbers = list(map(int, texts))
        if outside := [number for number in numbers if not least <= number <= most]:
            raise ValueError(f"{outside[0]} is no {target}")
        return np.array(numbers, wide).reshape(x.shape).astype(dtype)

    return convert


def integer_range(name: str) -> tuple[int, int]:
    """The least and the greatest integer of the dtype."""
    width = bits(name)
    return (0, 2**width - 1) if name in UNSIGNED else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


def _cast(site: Site) -> Kernel:
    return _marked(site, CODES[site.attributes["to"]])


def _cast_like(site: Site) -> Kernel:
    like = site.inputs[1]
    if like is None or not like.dtype:
        raise NotImplementedError("the dtype to cast to is unknown")
    return _marked(site, like.dtype)


def _marked(site: Site, target: str) -> Kernel:
    first = site.inputs[0]
    if first is None or not first.dtype:
        raise NotImplementedError("the dtype to cast from is unknown")
    convert = converter(site, first.dtype, target)
    if first.dtype == target:
        return lambda x, *_: convert(x)
    return Fresh(lambda x, *_: convert(x))


def _bit_cast(site: Site) -> Kernel:
    """The same bits under another dtype of the same width."""
    target = CODES[site.attributes["to"]]
    dtype = site.dtype(target)
    return lambda x: site.xp.asarray(x).view(dtype)


KERNELS: dict[str, Builder] = {
    "Cast": _cast,
    "CastLike": _cast_like,
    "BitCast": _bit_cast,
}
