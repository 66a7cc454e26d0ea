"""Types of values as ONNX writes them."""

from __future__ import annotations

import onnx
from onnx import helper

from rlx.program.schemas import DTYPE_NUMBERS
from rlx.program.types import ValueType


def type_proto(found: ValueType) -> onnx.TypeProto:
    """The type as ONNX has it; an empty one where it is not known."""
    if not found.dtype:
        return onnx.TypeProto()
    if found.kind != "tensor":
        return _nested(found.dtype)
    return helper.make_tensor_type_proto(DTYPE_NUMBERS[found.dtype], found.shape)


def _nested(dtype: str) -> onnx.TypeProto:
    """The type of `seq(float32)`, `optional(seq(int64))`, `map(string,float32)`."""
    outer, _, inner = dtype.removesuffix(")").partition("(")
    if not inner:
        return helper.make_tensor_type_proto(DTYPE_NUMBERS[dtype], None)
    if outer == "seq":
        return helper.make_sequence_type_proto(_nested(inner))
    if outer == "optional":
        return helper.make_optional_type_proto(_nested(inner))
    if outer == "map":
        key, _, value = inner.partition(",")
        return helper.make_map_type_proto(DTYPE_NUMBERS[key], _nested(value))
    return helper.make_sparse_tensor_type_proto(DTYPE_NUMBERS[inner], None)


def value_info(name: str, found: ValueType) -> onnx.ValueInfoProto:
    """A value of this name and type."""
    made = onnx.ValueInfoProto(name=name)
    if found.dtype:
        made.type.CopyFrom(type_proto(found))
    return made
