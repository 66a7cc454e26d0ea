"""ONNX's dtype names and NumPy's dtypes."""

from __future__ import annotations

from functools import cache

import ml_dtypes
import numpy as np

_MINIFLOATS = {
    "bfloat16": "bfloat16",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
    "float4e2m1": "float4_e2m1fn",
    "int2": "int2",
    "int4": "int4",
    "uint2": "uint2",
    "uint4": "uint4",
}
"""By ONNX's name, the name in ml_dtypes of each dtype that NumPy itself lacks."""


@cache
def numpy_dtype(name: str) -> np.dtype[np.generic] | None:
    """The dtype of arrays that hold ONNX's `name`; strings are objects; None: no such dtype."""
    if name == "string":
        return np.dtype(object)
    if name in _MINIFLOATS:
        scalar = getattr(ml_dtypes, _MINIFLOATS[name], None)
        return None if scalar is None else np.dtype(scalar)
    try:
        return np.dtype(name)
    except TypeError:
        return None


def onnx_name(dtype: np.dtype[np.generic]) -> str:
    """What messages call a dtype: ONNX's name where it has one."""
    if dtype.kind in "OU":
        return "string" if dtype.kind == "U" else "object"
    known = {theirs: ours for ours, theirs in _MINIFLOATS.items()}
    return known.get(dtype.name, dtype.name)
