"""One literal, hand-checkable result per operation: shapes, slices, pads, constants."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest

from rlx.backends.array.kernels import constants, cutting, shape
from rlx.errors import ExecutionError

F32 = onnx.TensorProto.FLOAT


def f(values):
    return np.array(values, np.float32)


def n(*values):
    return np.array(values, np.int64)


def tensor(values, dtype):
    return onnx.numpy_helper.from_array(np.array(values, dtype))


ROW = f([[1, 2, 3]])
SQUARE = f([[1, 2], [3, 4]])
LINE = f([0, 1, 2, 3, 4])
DEPTH = f(range(8)).reshape(1, 8, 1, 1)
WIDE = f([[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]])

CASES = [
    ("Reshape", {}, [SQUARE, n(4)], [f([1, 2, 3, 4])]),
    ("Reshape", {}, [SQUARE, n(1, 0, -1)], [f([[[1, 2], [3, 4]]])]),
    ("Reshape", {"allowzero": 1}, [f([]), n(0, 3)], [np.zeros((0, 3), np.float32)]),
    ("Reshape", {}, [np.zeros((0, 2), np.float32), n(0, -1)], [np.zeros((0, 2), np.float32)]),
    ("Flatten", {}, [WIDE], [f([range(8)])]),
    ("Flatten", {"axis": -1}, [SQUARE], [SQUARE]),
    ("Flatten", {"axis": 0}, [SQUARE], [f([[1, 2, 3, 4]])]),
    ("Transpose", {}, [ROW], [f([[1], [2], [3]])]),
    ("Transpose", {"perm": [1, 0]}, [SQUARE], [f([[1, 3], [2, 4]])]),
    ("Squeeze", {}, [ROW], [f([1, 2, 3])]),
    ("Squeeze", {}, [ROW, n(-2)], [f([1, 2, 3])]),
    ("Unsqueeze", {}, [f([1, 2]), n(-1, 0)], [f([[[1], [2]]])]),
    ("Expand", {}, [f([[1], [2]]), n(2, 1, 2)], [f([[[1, 1], [2, 2]]] * 2)]),
    ("Tile", {}, [ROW, n(2, 2)], [f([[1, 2, 3, 1, 2, 3]] * 2)]),
    ("Concat", {"axis": -1}, [SQUARE, f([[9], [8]])], [f([[1, 2, 9], [3, 4, 8]])]),
    ("Split", {"axis": 0}, [f([1, 2, 3]), n(1, 2)], [f([1]), f([2, 3])]),
    ("Split", {"num_outputs": 2}, [f([1, 2, 3]), None], [f([1, 2]), f([3])]),
    ("Split", {"axis": -1, "num_outputs": 1}, [SQUARE], [SQUARE]),
    ("DepthToSpace", {"blocksize": 2}, [DEPTH], [f([[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]])]),
    (
        "DepthToSpace",
        {"blocksize": 2, "mode": "CRD"},
        [DEPTH],
        [f([[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]])],
    ),
    ("SpaceToDepth", {"blocksize": 2}, [WIDE], [DEPTH[:, [0, 4, 1, 5, 2, 6, 3, 7]]]),
    (
        "ReverseSequence",
        {"time_axis": 1, "batch_axis": 0},
        [f([[1, 2, 3], [4, 5, 6]]), n(2, 3)],
        [f([[2, 1, 3], [6, 5, 4]])],
    ),
    ("Trilu", {}, [SQUARE], [f([[1, 2], [0, 4]])]),
    ("Trilu", {"upper": 0}, [SQUARE, np.array(-1)], [f([[0, 0], [3, 0]])]),
    ("Slice", {}, [LINE, n(1), n(-1), n(0), n(2)], [f([1, 3])]),
    ("Slice", {}, [LINE, n(-1), n(-100), n(0), n(-2)], [f([4, 2, 0])]),
    ("Slice", {}, [LINE, n(-100), n(-(2**62)), n(0), n(-1)], [f([0])]),
    ("Slice", {}, [LINE, n(3), n(2**62)], [f([3, 4])]),
    ("Slice", {}, [SQUARE, n(0), n(1), n(-1)], [f([[1], [3]])]),
    ("Pad", {}, [f([1, 2]), n(1, 2)], [f([0, 1, 2, 0, 0])]),
    ("Pad", {}, [SQUARE, n(-1, 1), np.float32(9), n(-1)], [f([[2, 9], [4, 9]])]),
    ("Pad", {"mode": "edge"}, [f([1, 2]), n(2, 1)], [f([1, 1, 1, 2, 2])]),
    ("Pad", {"mode": "reflect"}, [f([1, 2, 3]), n(2, 1)], [f([3, 2, 1, 2, 3, 2])]),
    ("Pad", {"mode": "wrap"}, [f([1, 2, 3]), n(2, 1)], [f([2, 3, 1, 2, 3, 1])]),
    ("Constant", {"value_ints": [1, 2]}, [], [n(1, 2)]),
    ("Constant", {"value_float": 1.5}, [], [f(1.5)]),
    ("Constant", {"value": tensor([1, 2], np.float16)}, [], [np.array([1, 2], np.float16)]),
    ("ConstantOfShape", {}, [n(2)], [f([0, 0])]),
    (
        "ConstantOfShape",
        {"value": tensor([7], ml_dtypes.bfloat16)},
        [n(1, 2)],
        [np.array([[7, 7]], ml_dtypes.bfloat16)],
    ),
    ("Identity", {}, [LINE], [LINE]),
    ("Shape", {}, [WIDE], [n(1, 2, 2, 2)]),
    ("Shape", {"start": -3, "end": -1}, [WIDE], [n(2, 2)]),
    ("Size", {}, [WIDE], [np.array(8)]),
    ("EyeLike", {"k": 1}, [SQUARE], [f([[0, 1], [0, 0]])]),
    ("EyeLike", {"dtype": F32}, [np.zeros((1, 2), np.int32)], [f([[1, 0]])]),
    ("Range", {}, [np.array(10), np.array(4), np.array(-2)], [n(10, 8, 6)]),
    ("Range", {}, [np.array(3), np.array(0), np.array(1)], [n()]),
    ("Range", {}, [f(0), f(1), f(0.3)], [f([0, 0.3, 0.6, 0.9])]),
    ("Dropout", {}, [LINE], [LINE, np.ones(5, np.bool_)]),
    ("Dropout", {"seed": 0}, [LINE, f(0), np.array(True)], [LINE, np.ones(5, np.bool_)]),
]


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_result_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    arrays = [None if x is None else np.asarray(x) for x in inputs]
    constant = range(1, len(arrays))
    for results in (
        run_node(operation, attributes, arrays, expected),
        run_node(operation, attributes, arrays, expected, constants=constant, symbolic=True),
    ):
        for found, wanted in zip(results, expected, strict=True):
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-6)


def test_training_dropout_scales_what_it_keeps(run_node):
    inputs = [np.ones(64, np.float32), np.array(0.75, np.float32), np.array(True)]
    y, mask = run_node("Dropout", {"seed": 3}, inputs, [inputs[0], inputs[2].reshape(1)])
    np.testing.assert_array_equal(y, np.where(mask, np.float32(4), np.float32(0)))
    assert 0 < mask.sum() < 64


def test_a_split_that_does_not_fit_says_so(run_node):
    with pytest.raises(
        ExecutionError, match=r"^node 'Split_0' Split failed: sizes \[1, 1\] do not sum to 3"
    ):
        run_node("Split", {}, [f([1, 2, 3]), n(1, 1)], [LINE, LINE], symbolic=True)


def test_every_operation_has_a_literal():
    families = constants.KERNELS.keys() | cutting.KERNELS.keys() | shape.KERNELS.keys()
    assert {case[0] for case in CASES} == families
