"""Literals of shapes, slices, pads and constants."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx

from rlx.conformance.literals.literal import Array, Literal

F32 = onnx.TensorProto.FLOAT


def f(values: Any) -> Array:
    """float32."""
    return np.array(values, np.float32)


def n(*values: int) -> Array:
    """int64."""
    return np.array(values, np.int64)


def tensor(values: Any, dtype: Any) -> onnx.TensorProto:
    """These values of a dtype."""
    return onnx.numpy_helper.from_array(np.array(values, dtype))


ROW = f([[1, 2, 3]])
SQUARE = f([[1, 2], [3, 4]])
LINE = f([0, 1, 2, 3, 4])
DEPTH = f(range(8)).reshape(1, 8, 1, 1)
WIDE = f([[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]])

HELD = (
    *(
        np.float16,
        np.float32,
        np.float64,
        ml_dtypes.bfloat16,
        np.bool_,
        np.complex64,
        np.complex128,
    ),
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
)
"""What a Constant may hold."""
CASES: list[Literal] = [
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
    *(
        ("Constant", {"value": tensor([1, 0], dtype)}, [], [np.array([1, 0], dtype)])
        for dtype in HELD
    ),
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
