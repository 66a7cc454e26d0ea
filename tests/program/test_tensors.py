"""Tensors that contradict themselves are refused by name, before NumPy sees them."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from rlx.errors import ProgramError
from rlx.program.block import dtype_name
from rlx.program.tensors import sparse_array, tensor_array

FLOAT = TensorProto.FLOAT

BROKEN = [
    ({"data_type": 0, "dims": [1]}, "w has the unknown data type 0"),
    ({"data_type": 99, "dims": [1]}, "w has the unknown data type 99"),
    ({"data_type": FLOAT, "dims": [-1]}, "w has a negative size in its shape [-1]"),
    ({"data_type": FLOAT, "dims": [1] * 65}, "w has 65 dimensions; 64 are the most"),
    (
        {"data_type": FLOAT, "dims": [2**31, 2**31], "raw_data": b""},
        "w claims the shape [2147483648, 2147483648], which is over 68719476736 bytes",
    ),
    (
        {"data_type": FLOAT, "dims": [2], "raw_data": b"123"},
        "w is float32[2], which takes 8 bytes, but it holds 3",
    ),
    (
        {"data_type": FLOAT, "dims": [3], "float_data": [1.0]},
        "w is float32[3], which takes 3 values, but it holds 1",
    ),
    (
        {"data_type": FLOAT, "dims": [1], "float_data": [1.0], "raw_data": b"1234"},
        "w holds its values twice, in float_data, raw_data",
    ),
    (
        {"data_type": FLOAT, "dims": [1], "int32_data": [1]},
        "w is float32 but holds its values in int32_data",
    ),
    (
        {"data_type": TensorProto.STRING, "dims": [3], "raw_data": b"abc"},
        "w is a string tensor stored as raw data",
    ),
    (
        {"data_type": FLOAT, "dims": [1], "segment": TensorProto.Segment(begin=0)},
        "w is stored in segments, which ONNX never defined",
    ),
    (
        {"data_type": TensorProto.INT4, "dims": [3], "raw_data": b"1"},
        "w is int4[3], which takes 2 bytes, but it holds 1",
    ),
]


@pytest.mark.parametrize(("fields", "message"), BROKEN)
def test_a_broken_tensor_is_refused_by_name(fields, message):
    with pytest.raises(ProgramError) as caught:
        tensor_array(TensorProto(**fields), "w")
    assert caught.value.message == message


def test_strings_that_are_not_utf8_are_refused():
    tensor = TensorProto(data_type=TensorProto.STRING, dims=[1], string_data=[b"\xff"])
    with pytest.raises(ProgramError, match="w cannot be read: 'utf-8' codec can't decode"):
        tensor_array(tensor, "w")


DTYPES = [
    "float32 float64 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64",
    "bfloat16 float8_e4m3fn float8_e5m2 int4 uint4 float4_e2m1fn int2 uint2 float8_e8m0fnu",
]


@pytest.mark.parametrize("name", " ".join(DTYPES).split())
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3)])
def test_every_dtype_comes_back_read_only(name, shape):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    array = np.ones(shape, dtype)
    tensor = numpy_helper.from_array(array)
    found = tensor_array(tensor, "w")
    assert (found.dtype, found.shape, found.flags.writeable) == (dtype, shape, False)
    assert (found == array).all()
    assert dtype_name(found) == helper.tensor_dtype_to_string(tensor.data_type)[
        len("TensorProto.") :
    ].lower().replace("double", "float64").replace("float", "float32", tensor.data_type == FLOAT)


def test_strings_come_back_as_objects():
    tensor = helper.make_tensor("w", TensorProto.STRING, [2], [b"a", "ü".encode()])
    assert tensor_array(tensor, "w").tolist() == ["a", "ü"]


def sparse(indices: np.ndarray, dims: list[int]) -> onnx.SparseTensorProto:
    values = numpy_helper.from_array(np.array([5, 7], np.float32), "w")
    return helper.make_sparse_tensor(values, numpy_helper.from_array(indices), dims)


@pytest.mark.parametrize("indices", [[1, 3], [[0, 1], [1, 1]]])
def test_sparse_tensors_become_dense(indices):
    dense = sparse_array(sparse(np.array(indices, np.int64), [2, 2]), "w")
    assert dense.tolist() == [[0, 5], [0, 7]]


@pytest.mark.parametrize("indices", [[1, 4], [-1, 0], [[0, 2], [0, 0]]])
def test_sparse_indices_outside_are_refused(indices):
    with pytest.raises(ProgramError, match=r"w has an index outside its shape \[2, 2\]"):
        sparse_array(sparse(np.array(indices, np.int64), [2, 2]), "w")


def test_a_sparse_tensor_may_not_claim_more_than_two_gib():
    with pytest.raises(ProgramError, match="which is over 2147483648 bytes"):
        sparse_array(sparse(np.array([1, 3], np.int64), [2**20, 2**20]), "w")
