"""A `TensorProto` as a read-only NumPy array, refused before NumPy sees anything inconsistent."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from rlx.errors import ProgramError, UnsafeProgram
from rlx.program.schemas import DTYPE_NAMES

Array = np.ndarray[Any, Any]

LARGEST_TENSOR = 64 * 2**30
"""Bytes; no single tensor may claim more."""
LARGEST_DENSE = 2**31
"""Bytes; a sparse tensor, which takes few bytes in a file, may not claim more."""

_BITS = {"int4": 4, "uint4": 4, "float4e2m1": 4, "int2": 2, "uint2": 2, "float6e2m3": 6}
_BITS["float6e3m2"] = 6
_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
_PER_BYTE = {"int4": 2, "uint4": 2, "float4e2m1": 2, "int2": 4, "uint2": 4}


def elements(tensor: onnx.TensorProto, where: str, limit: int = LARGEST_TENSOR) -> int:
    """How many elements the tensor's dims make; refuses dims and dtypes that make no sense."""
    if tensor.data_type not in DTYPE_NAMES or not DTYPE_NAMES[tensor.data_type]:
        raise ProgramError(f"{where} has the unknown data type {tensor.data_type}")
    if any(size < 0 for size in tensor.dims):
        raise ProgramError(f"{where} has a negative size in its shape {list(tensor.dims)}")
    if len(tensor.dims) > 64:
        raise ProgramError(f"{where} has {len(tensor.dims)} dimensions; 64 are the most")
    count: int = math.prod(tensor.dims)
    if stored_bytes(count, DTYPE_NAMES[tensor.data_type]) > limit:
        raise UnsafeProgram(
            f"{where} claims the shape {list(tensor.dims)}, which is over {limit} bytes",
            fix="check where the file comes from; no tensor may be that large.",
        )
    return count


def stored_bytes(count: int, dtype: str) -> int:
    """How many bytes `count` elements take in a file (several to a byte below 8 bits)."""
    if dtype == "string":
        return count
    if dtype in _BITS:
        return -(-count * _BITS[dtype] // 8)
    number = onnx.TensorProto.DataType.Value(_enum_name(dtype))
    return count * int(onnx.helper.tensor_dtype_to_np_dtype(number).itemsize)


def _enum_name(dtype: str) -> str:
    return {"float32": "FLOAT", "float64": "DOUBLE"}.get(dtype, dtype.upper())


def tensor_array(tensor: onnx.TensorProto, where: str) -> Array:
    """The tensor's values; `where` names it in errors, such as `initializer 'w'`."""
    count = elements(tensor, where)
    dtype = DTYPE_NAMES[tensor.data_type]
    if tensor.HasField("segment"):
        raise ProgramError(f"{where} is stored in segments, which ONNX never defined")
    filled = [name for name in _FIELDS if len(getattr(tensor, name))]
    raw = tensor.HasField("raw_data")
    if len(filled) + raw > 1:
        names = ", ".join([*filled, *(["raw_data"] if raw else [])])
        raise ProgramError(f"{where} holds its values twice, in {names}")
    if raw:
        _expect(where, "bytes", len(tensor.raw_data), stored_bytes(count, dtype), tensor)
        if dtype == "string":
            raise ProgramError(f"{where} is a string tensor stored as raw data")
    else:
        field = onnx.helper.tensor_dtype_to_field(tensor.data_type)
        if filled and filled[0] != field:
            raise ProgramError(f"{where} is {dtype} but holds its values in {filled[0]}")
        per_entry = -(-count // _PER_BYTE.get(dtype, 1))
        expected = per_entry * (2 if dtype.startswith("complex") else 1)
        _expect(where, "values", len(getattr(tensor, field)), expected, tensor)
    try:
        array = np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, UnicodeDecodeError) as error:
        raise ProgramError(f"{where} cannot be read: {error}") from error
    return frozen_array(array)


def raw_array(data_type: int, shape: tuple[int, ...], data: bytes, where: str) -> Array:
    """An array from bytes as a file stores them, little-endian; without copying where possible."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(data_type)
    if _is_plain(data_type):
        return frozen_array(np.frombuffer(data, dtype).reshape(shape))
    tensor = onnx.TensorProto(data_type=data_type, dims=shape, raw_data=data)
    return tensor_array(tensor, where)


def _is_plain(data_type: int) -> bool:
    """Whether a file holds the dtype's values as NumPy does: whole bytes, in this order."""
    name = DTYPE_NAMES[data_type]
    return sys.byteorder == "little" and name not in _BITS and name != "string"


def append_tensor(graph: onnx.GraphProto, name: str, array: Array) -> None:
    """Add an array to a graph's initializers, copying its bytes once where possible."""
    number = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    if _is_plain(number):
        tensor = graph.initializer.add(name=name, data_type=number, dims=array.shape)
        tensor.raw_data = array.tobytes()
    else:
        graph.initializer.append(numpy_helper.from_array(array, name))


def _expect(where: str, unit: str, got: int, expected: int, tensor: onnx.TensorProto) -> None:
    if got != expected:
        shape = f"{DTYPE_NAMES[tensor.data_type]}{list(tensor.dims)}"
        raise ProgramError(f"{where} is {shape}, which takes {expected} {unit}, but it holds {got}")


def frozen_array(array: Array) -> Array:
    """The array, made read-only (the caller gives it away)."""
    array.setflags(write=False)
    return array


def sparse_array(sparse: onnx.SparseTensorProto, where: str) -> Array:
    """A sparse tensor's values as a dense read-only array."""
    values = tensor_array(sparse.values, where)
    indices = tensor_array(sparse.indices, f"the indices of {where}")
    shape = tuple(sparse.dims)
    claimed = onnx.TensorProto(data_type=sparse.values.data_type, dims=shape)
    count = elements(claimed, where, LARGEST_DENSE)
    if values.ndim != 1 or indices.dtype != np.int64:
        raise ProgramError(f"{where} needs 1-D values and int64 indices")
    if indices.shape == (len(values), len(shape)):
        if indices.size and ((indices < 0).any() or (indices >= np.array(shape)).any()):
            raise ProgramError(f"{where} has an index outside its shape {list(shape)}")
        indices = np.ravel_multi_index(tuple(indices.T), shape) if shape else indices[:, :0]
    elif indices.shape != (len(values),):
        raise ProgramError(f"{where} has {list(indices.shape)} indices for {len(values)} values")
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        raise ProgramError(f"{where} has an index outside its shape {list(shape)}")
    empty = "" if values.dtype == object else 0
    dense = np.full(count, empty, values.dtype)
    dense[indices] = values
    return frozen_array(dense.reshape(shape))
