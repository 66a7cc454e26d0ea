"""Variants are the same node at other dtypes and attribute values, with values that fit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from rlx.conformance.vary import attribute_values, attribute_variants, recast, type_variants


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 28]> {text}')


X = np.array([-1.5, 0.0, 2.0], np.float32)


def test_each_dtype_that_the_schema_allows_is_tried_once() -> None:
    found = list(type_variants(model("g (float[3] x) => (float[3] y) { y = Sqrt(x) }"), (X,)))
    assert [variant.label for variant in found] == ["T=bfloat16", "T=float16", "T=float64"]
    assert [variant.inputs[0].dtype.name for variant in found] == ["bfloat16", "float16", "float64"]
    assert [v.model.graph.output[0].type.tensor_type.elem_type for v in found] == [16, 10, 11]


def test_combinations_of_two_variables_are_all_tried() -> None:
    text = "g (float[3] x, int64[2] i) => (float[2] y) { y = Gather(x, i) }"
    found = list(type_variants(model(text), (X, np.array([0, 1]))))
    assert len({variant.label for variant in found}) == len(found)
    assert "T=float32,Tind=int32" in {variant.label for variant in found}


def test_an_output_that_an_attribute_names_changes_with_it() -> None:
    text = "g (float[3] x) => (double[3] y) { y = Cast <to = 11> (x) }"
    found = {v.label: v.model for v in type_variants(model(text), (X,))}
    changed = found["T1=float32,T2=int64"]
    assert changed.graph.node[0].attribute[0].i == onnx.TensorProto.INT64
    assert changed.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.INT64


def test_sequences_change_their_items() -> None:
    text = "g (seq(float[3]) s) => (int64 n) { n = SequenceLength(s) }"
    found = {v.label: v.inputs for v in type_variants(model(text), ([X],))}
    assert found["S=seq(int64),I=int64"][0][0].dtype == np.int64


def test_attributes_take_the_texts_seen_and_both_flags() -> None:
    one = model('g (float[3] x) => (float[3] y) { y = Gelu <approximate = "tanh"> (x) }')
    assert attribute_values([one]) == {"approximate": ("none", "tanh")}
    text = "g (float[3] x) => (float[1] y) { y = ReduceSum <keepdims = 1> (x) }"
    assert attribute_values([model(text)]) == {
        "keepdims": (0, 1),
        "noop_with_empty_axes": (0, 1),
    }


def test_an_attribute_variant_has_the_shape_that_follows() -> None:
    text = "g (float[3] x) => (float[1] y) { y = ReduceSum <keepdims = 1> (x) }"
    found = {v.label: v.model for v in attribute_variants(model(text), (X,), {"keepdims": (0, 1)})}
    assert list(found) == ["keepdims=0"]
    assert not found["keepdims=0"].graph.output[0].type.tensor_type.shape.dim


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("float64", [-1.5, 0.0, 2.0]),
        ("bfloat16", [-1.5, 0.0, 2.0]),
        ("int8", [-5, 1, 2]),
        ("uint8", [5, 1, 2]),
        ("int2", [-1, 1, 1]),
        ("uint4", [5, 1, 2]),
        ("bool", [False, False, True]),
        ("string", ["-1.5", "0.0", "2.0"]),
    ],
)
def test_whole_numbers_are_small_and_not_zero(dtype: str, values: list[Any]) -> None:
    assert recast(X, dtype).tolist() == values


def test_whole_numbers_stay_what_they_are() -> None:
    indices = np.array([0, 7, -1])
    assert recast(indices, "int32").tolist() == [0, 7, -1]
    assert recast(indices, "float32").tolist() == [0, 7, -1]
    assert recast(indices, "uint8").tolist() == [0, 7, 1]


def test_scalars_stay_arrays() -> None:
    assert isinstance(recast(np.array(2.0, np.float32), "uint8"), np.ndarray)


def test_narrow_dtypes_change_into_each_other() -> None:
    narrow = np.array([1, 2], ml_dtypes.float8_e5m2)
    assert recast(narrow, "float8e8m0").astype(np.float32).tolist() == [1, 2]


def test_sizes_that_values_decide_are_left_open() -> None:
    text = "g (float a, float b, float c) => (float[3] y) { y = Range(a, b, c) }"
    inputs = tuple(np.array(value, np.float32) for value in (0, 3, 1))
    found = {v.label: v.model for v in type_variants(model(text), inputs)}
    assert not found["T=int16"].graph.output[0].type.tensor_type.HasField("shape")
