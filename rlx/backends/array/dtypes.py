"""dtypes by ONNX's names: their codes in attributes, and what an array library calls them."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

CODES: dict[int, str] = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4e2m1",
    24: "float8e8m0",
    25: "uint2",
    26: "int2",
    27: "float6e2m3",
    28: "float6e3m2",
}
"""TensorProto.DataType: the values of attributes such as Cast's `to`."""

_EXTENDED: dict[str, type] = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
    "uint4": ml_dtypes.uint4,
    "int4": ml_dtypes.int4,
    "uint2": ml_dtypes.uint2,
    "int2": ml_dtypes.int2,
}
_BY_TEXT = {kind.__name__: name for name, kind in _EXTENDED.items()} | {"bool_": "bool"}
_NAMES = {np.dtype(kind): name for name, kind in _EXTENDED.items()}

SIGNED = frozenset({"int2", "int4", "int8", "int16", "int32", "int64"})
UNSIGNED = frozenset({"uint2", "uint4", "uint8", "uint16", "uint32", "uint64"})
INTEGERS = SIGNED | UNSIGNED
HALVES = frozenset({"float16", "bfloat16"})
"""Stored in 16 bits; sums and products are better carried in float32."""
FLOAT8 = frozenset({"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0"})
FLOATS = HALVES | FLOAT8 | {"float32", "float64", "float4e2m1", "float6e2m3", "float6e3m2"}


def bits(name: str) -> int:
    """How many bits a value of the dtype has, as ONNX counts them: 4 for int4, 8 for bool."""
    for suffix, count in (("4e2m1", 4), ("t4", 4), ("t2", 2), ("6e2m3", 6), ("6e3m2", 6)):
        if name.endswith(suffix):
            return count
    return int(np.dtype(numpy_dtype(name)).itemsize) * 8


def numpy_dtype(name: str) -> Any:
    """The NumPy dtype of an ONNX dtype name; strings are objects."""
    if name == "string":
        return np.dtype(object)
    if name in _EXTENDED:
        return np.dtype(_EXTENDED[name])
    return np.dtype(name)


def native(xp: Any, name: str) -> Any:
    """The dtype in an array namespace.

    Raises:
        NotImplementedError: the library has no such dtype.
    """
    if xp.__name__ in {"numpy", "array_api_compat.numpy"}:
        return numpy_dtype(name)
    theirs = _EXTENDED[name].__name__ if name in _EXTENDED else name
    found = getattr(xp, theirs, None) or getattr(xp, theirs + "_", None)
    if found is None or name == "string":
        raise NotImplementedError(f"{xp.__name__} has no dtype {name}")
    return found


def name_of_native(array: Any) -> str:
    """The ONNX name of an array's dtype, whose text ends in its name, as in `torch.float32`."""
    dtype = array.dtype
    kind: Any = type(dtype)
    return _named(kind, dtype)


@cache
def _named(_: Any, dtype: Any) -> str:
    """With the type, dtypes of two libraries are never compared, which some warn of."""
    text = str(dtype).rpartition(".")[2]
    return _BY_TEXT.get(text, text)


def name_of(dtype: Any) -> str:
    """The ONNX name of a NumPy dtype."""
    dtype = np.dtype(dtype)
    if dtype.kind in "OUST":
        return "string"
    return _NAMES.get(dtype) or dtype.name
