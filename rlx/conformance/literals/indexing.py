"""Literals of reductions, products, indexing and casts."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import onnx

from rlx.conformance.literals.literal import Array, Literal

T = onnx.TensorProto
inf, nan = math.inf, math.nan


def f(values: Any) -> Array:
    """float32."""
    return np.array(values, np.float32)


def n(*values: int) -> Array:
    """int64."""
    return np.array(values, np.int64)


def of(kind: Any, *values: Any) -> Array:
    """These values of a dtype."""
    return np.array(values, kind)


SQUARE = f([[1, 2], [3, 4]])
LINE = f([5, 1, 5, 3])
E8 = ml_dtypes.float8_e8m0fnu
E4 = ml_dtypes.float8_e4m3fn
E5 = ml_dtypes.float8_e5m2

REDUCTIONS: list[Literal] = [
    ("ReduceSum", {}, [SQUARE, n(0)], [f([[4, 6]])]),
    ("ReduceSum", {"keepdims": 0}, [SQUARE], [f(10)]),
    ("ReduceSum", {"noop_with_empty_axes": 1}, [SQUARE, n()], [SQUARE]),
    ("ReduceSum", {"keepdims": 0}, [of(np.int32, 2**31 - 1, 1)], [np.array(-(2**31), np.int32)]),
    ("ReduceSum", {}, [np.full(2049, 1, np.float16)], [of(np.float16, 2048)]),
    ("ReduceProd", {}, [SQUARE, n(-1)], [f([[2], [12]])]),
    ("ReduceMax", {}, [SQUARE, n(1)], [f([[2], [4]])]),
    ("ReduceMax", {}, [of(bool, 0, 1)], [of(bool, 1)]),
    ("ReduceMax", {"keepdims": 0}, [np.zeros((0, 2), np.float32), n(0)], [f([-inf, -inf])]),
    ("ReduceMin", {}, [SQUARE, n(1)], [f([[1], [3]])]),
    ("ReduceMin", {}, [np.zeros(0, np.int32)], [of(np.int32, 2**31 - 1)]),
    ("ReduceMean", {}, [SQUARE, n(0)], [f([[2, 3]])]),
    ("ReduceMean", {}, [of(np.int32, -1, -2)], [of(np.int32, -1)]),
    ("ReduceL1", {}, [f([-1, 2])], [f([3])]),
    ("ReduceL2", {}, [f([3, -4])], [f([5])]),
    ("ReduceSumSquare", {}, [f([3, -4])], [f([25])]),
    ("ReduceLogSum", {}, [f([0.25, 0.75])], [f([0])]),
    ("ReduceLogSumExp", {}, [f([1000, 1000])], [f([1000 + math.log(2)])]),
    ("ReduceLogSumExp", {}, [f([-inf, -inf])], [f([-inf])]),
    ("ArgMax", {"axis": 0, "keepdims": 0}, [LINE], [np.array(0)]),
    ("ArgMax", {"axis": -1, "select_last_index": 1}, [LINE], [n(2)]),
    ("ArgMin", {}, [LINE], [n(1)]),
    ("CumSum", {}, [f([1, 2, 3]), np.array(0)], [f([1, 3, 6])]),
    ("CumSum", {"exclusive": 1, "reverse": 1}, [f([1, 2, 3]), n(0)], [f([5, 3, 0])]),
    ("CumProd", {}, [of(np.int32, 1, 2, 3), np.array(0)], [of(np.int32, 1, 2, 6)]),
    ("CumProd", {"exclusive": 1}, [f([4, 2, 3]), np.array(0)], [f([1, 4, 8])]),
]
PRODUCTS: list[Literal] = [
    ("MatMul", {}, [SQUARE, f([10, 1])], [f([12, 34])]),
    ("MatMul", {}, [of(np.float16, 1, 2), of(np.float16, 3, 4)], [np.array(11, np.float16)]),
    ("Gemm", {}, [SQUARE, SQUARE, f([1, 0])], [f([[8, 10], [16, 22]])]),
    (
        "Gemm",
        {"alpha": 2.0, "beta": 3.0, "transA": 1, "transB": 1},
        [SQUARE, SQUARE, f(1)],
        [f([[17, 33], [23, 47]])],
    ),
    ("Gemm", {"beta": 0.0}, [SQUARE, SQUARE, f([nan])], [f([[7, 10], [15, 22]])]),
    (
        "Gemm",
        {"alpha": 0.5, "beta": 2.0},
        [np.array([[3]], np.int32), np.array([[3]], np.int32), of(np.int32, 1)],
        [np.array([[6]], np.int32)],
    ),
    ("Einsum", {"equation": "ij,ij->i"}, [SQUARE, SQUARE], [f([5, 25])]),
    ("Einsum", {"equation": "ii"}, [SQUARE], [f(5)]),
    ("Einsum", {"equation": "i->i"}, [of(ml_dtypes.bfloat16, 2)], [of(ml_dtypes.bfloat16, 2)]),
]
INDEXING: list[Literal] = [
    ("Gather", {"axis": 1}, [SQUARE, n(-1, 0)], [f([[2, 1], [4, 3]])]),
    ("Gather", {}, [SQUARE, np.array(1)], [f([3, 4])]),
    ("GatherElements", {"axis": 1}, [SQUARE, np.array([[0, 0], [-1, 0]])], [f([[1, 1], [4, 3]])]),
    ("GatherElements", {}, [f([[1, 2, 3]]), np.array([[0, 0]])], [f([[1, 2]])]),
    ("GatherND", {}, [SQUARE, np.array([[0, 1], [-1, 0]])], [f([2, 3])]),
    ("GatherND", {"batch_dims": 1}, [SQUARE, np.array([[1], [0]])], [f([2, 3])]),
    ("OneHot", {}, [n(0, -1, 9), np.array(3), f([0, 1])], [f([[1, 0, 0], [0, 0, 1], [0, 0, 0]])]),
    ("OneHot", {"axis": 0}, [n(1), n(2), n(5, 7)], [np.array([[5], [7]])]),
    ("NonZero", {}, [f([[0, 1], [2, 0]])], [np.array([[0, 1], [1, 0]])]),
    ("Compress", {"axis": 1}, [SQUARE, of(bool, 0, 1)], [f([[2], [4]])]),
    ("Compress", {}, [SQUARE, of(bool, 1, 0, 1)], [f([1, 3])]),
    ("TopK", {}, [LINE, n(2)], [f([5, 5]), n(0, 2)]),
    ("TopK", {"largest": 0}, [LINE, n(2)], [f([1, 3]), n(1, 3)]),
    ("Unique", {}, [f([2, 1, 2])], [f([1, 2]), n(1, 0), n(1, 0, 1), n(1, 2)]),
    ("Unique", {"sorted": 0}, [f([2, 1, 2])], [f([2, 1]), n(0, 1), n(0, 1, 0), n(2, 1)]),
    ("Unique", {"axis": 1}, [f([[3, 1, 3]])], [f([[1, 3]]), n(1, 0), n(1, 0, 1), n(1, 2)]),
    ("ScatterElements", {}, [f([1, 2, 3]), n(-1, 0), f([9, 8])], [f([8, 2, 9])]),
    ("ScatterElements", {"reduction": "add"}, [f([1, 2]), n(0, 0), f([3, 4])], [f([8, 2])]),
    ("ScatterElements", {"reduction": "mul"}, [f([2, 2]), n(1, 1), f([3, 4])], [f([2, 24])]),
    ("ScatterND", {}, [f([1, 2, 3]), np.array([[2], [0]]), f([9, 8])], [f([8, 2, 9])]),
    (
        "ScatterND",
        {"reduction": "max"},
        [SQUARE, np.array([[1]]), f([[9, 0]])],
        [f([[1, 2], [9, 4]])],
    ),
    (
        "ScatterND",
        {"reduction": "min"},
        [SQUARE, np.array([[1]]), f([[9, 0]])],
        [f([[1, 2], [3, 0]])],
    ),
    (
        "TensorScatter",
        {"mode": "circular"},
        [f([[[0], [0], [0]]]), f([[[1], [2]]]), n(2)],
        [f([[[2], [0], [1]]])],
    ),
    ("TensorScatter", {}, [f([[[0], [0]]]), f([[[5]]])], [f([[[5], [0]]])]),
]
CASTS: list[Literal] = [
    ("Cast", {"to": T.INT32}, [f([1.9, -1.9])], [of(np.int32, 1, -1)]),
    ("Cast", {"to": T.BOOL}, [f([0, 0.5, nan])], [of(bool, 0, 1, 1)]),
    ("Cast", {"to": T.INT8}, [of(np.int16, 200)], [of(np.int8, -56)]),
    ("Cast", {"to": T.INT4}, [of(np.int8, 9)], [of(ml_dtypes.int4, -7)]),
    ("Cast", {"to": T.UINT4}, [of(ml_dtypes.int4, -7)], [of(ml_dtypes.uint4, 9)]),
    ("Cast", {"to": T.FLOAT8E5M2}, [of(E8, 4)], [of(E5, 4)]),
    ("Cast", {"to": T.FLOAT8E5M2}, [of(E5, inf)], [of(E5, 57344)]),
    ("Cast", {"to": T.FLOAT}, [of(ml_dtypes.int4, -7)], [f([-7])]),
    ("Cast", {"to": T.DOUBLE}, [f([0.5])], [of(np.float64, 0.5)]),
    ("Cast", {"to": T.FLOAT8E4M3FN}, [f([1000, -inf, nan])], [of(E4, 448, -448, nan)]),
    ("Cast", {"to": T.FLOAT8E5M2, "saturate": 0}, [f([1e9, 1])], [of(E5, inf, 1)]),
    ("Cast", {"to": T.FLOAT8E8M0}, [f([3, 4, inf])], [of(E8, 4, 4, 2.0**127)]),
    ("Cast", {"to": T.FLOAT8E8M0, "round_mode": "down"}, [f([3, 7])], [of(E8, 2, 4)]),
    ("Cast", {"to": T.FLOAT8E8M0, "round_mode": "nearest"}, [f([2.9, 3])], [of(E8, 2, 4)]),
    ("CastLike", {}, [f([1.5]), of(np.float16, 0)], [of(np.float16, 1.5)]),
    ("BitCast", {"to": T.INT32}, [f([1.0])], [of(np.int32, 0x3F800000)]),
]

CASES = REDUCTIONS + PRODUCTS + INDEXING + CASTS
