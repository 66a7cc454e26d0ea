"""Literals at the dtypes at which the oracle's own results have another dtype, or none."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx

from rlx.conformance.literals.literal import Array, Literal
from rlx.conformance.literals.moved import elements, pair

REALS = (ml_dtypes.bfloat16, np.float16, np.float32, np.float64)
E8M0 = ml_dtypes.float8_e8m0fnu


def _at_each(
    operation: str, attributes: dict[str, Any], inputs: list[Any], output: Any, *others: Array
) -> list[Literal]:
    """Lists of the inputs, and the output, at each of the four dtypes; arrays stay as they are."""
    return [
        (
            operation,
            attributes,
            [np.array(x, dtype) if isinstance(x, list) else x for x in inputs],
            [np.array(output, dtype), *others],
        )
        for dtype in REALS
    ]


def _n(*values: int) -> Array:
    return np.array(values, np.int64)


def _value(x: Array) -> onnx.TensorProto:
    if x.dtype == object:
        return onnx.helper.make_tensor("v", onnx.TensorProto.STRING, x.shape, x.ravel().tolist())
    return onnx.numpy_helper.from_array(x)


F32 = np.float32
CASES: list[Literal] = [
    *_at_each("AffineGrid", {}, [[[[1, 0, 0], [0, 1, 0]]], _n(1, 1, 1, 1)], [[[[0, 0]]]]),
    *_at_each("Det", {}, [[[1, 2], [3, 4]]], -2),
    *_at_each(
        "LayerNormalization",
        {"epsilon": 0.0},
        [[1, 3], [1, 2], [0, 1]],
        [-1, 3],
        np.array([2], F32),
        np.array([1], F32),
    ),
    *_at_each("MeanVarianceNormalization", {}, [[[[[1, 3]]]]], [[[[-1, 1]]]]),
    *_at_each("GlobalLpPool", {}, [[[[3, 4]]]], [[[5]]]),
    *_at_each(
        "MaxRoiPool",
        {"pooled_shape": [1, 1]},
        [[[[[1, 2], [3, 4]]]], [[0, 0, 0, 1, 1]]],
        [[[[4]]]],
    ),
    *(
        case
        for kind in (np.int32, np.int64)
        for case in _at_each("DFT", {}, [[[[1], [2]]], np.array(2, kind)], [[[3, 0], [-1, 0]]])
    ),
    *(
        ("ReduceSumSquare", {"keepdims": 0}, [np.array([1, 2], kind)], np.array(5, kind))
        for kind in (np.int32, np.int64, np.uint32, np.uint64)
    ),
    *(
        ("DequantizeLinear", {"output_dtype": 1}, [np.array([4], kind), np.array([0.5], E8M0)],
         np.array([2], F32))
        for kind in (np.int8, np.uint8)
    ),
    *(
        ("ConstantOfShape", {"value": _value(pair(dtype)[:1])}, [_n(2)],
         np.concatenate([pair(dtype)[:1]] * 2))
        for dtype in elements("ConstantOfShape", "T2")
    ),
    *(("Constant", {"value": _value(pair(dtype))}, [], pair(dtype))
      for dtype in elements("Constant", "T")),
    *(("OneHot", {}, [_n(1), np.array(2), pair(dtype)], pair(dtype)[None])
      for dtype in elements("OneHot", "T3")),
]  # fmt: skip
