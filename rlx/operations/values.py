"""Attribute values: what each attribute type accepts, and the one form that values are kept in."""

from __future__ import annotations

import math
import struct
from typing import Any

SCALARS = {"INT": "an integer", "FLOAT": "a number", "STRING": "text"}
LISTS = {"INTS": "INT", "FLOATS": "FLOAT", "STRINGS": "STRING"}
ATTRIBUTE_TYPES = (
    *SCALARS,
    *LISTS,
    *("TENSOR", "TENSORS", "GRAPH", "GRAPHS"),
    *("SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"),
)
INT64 = range(-(2**63), 2**63)


def expected(attribute_type: str) -> str | None:
    """What a value of this type is, in words; None: no manifest can write one (a graph)."""
    if attribute_type in LISTS:
        element = SCALARS[LISTS[attribute_type]].split()[-1]
        return "a list of text" if element == "text" else f"a list of {element}s"
    return SCALARS.get(attribute_type)


def single_precision(value: float) -> float:
    """The value as an attribute holds it: ONNX stores FLOAT in 32 bits. Too large: infinity."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def normalised(attribute_type: str, value: Any) -> Any:
    """The value in the form that a node's attribute has: float32 for FLOAT, a tuple for lists.

    Raises:
        ValueError: the type accepts no such value.
    """
    if attribute_type in LISTS:
        if not isinstance(value, (list, tuple)):
            raise ValueError(value)
        return tuple(normalised(LISTS[attribute_type], one) for one in value)
    if attribute_type == "STRING" and isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        if attribute_type == "INT" and value in INT64:
            return value
        if attribute_type == "FLOAT":
            return single_precision(value)
    if attribute_type == "FLOAT" and isinstance(value, float) and not math.isnan(value):
        return single_precision(value)
    raise ValueError(value)


def accepts(attribute_type: str, value: Any) -> bool:
    """True when an attribute of this type can have the value."""
    try:
        normalised(attribute_type, value)
    except ValueError:
        return False
    return True


def shortest(value: float) -> str:
    """The fewest digits that give the same float32, written so that every YAML reads a float."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if single_precision(float(text)) == single_precision(value):
            break
    mantissa, exponent, power = text.partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + exponent + power
