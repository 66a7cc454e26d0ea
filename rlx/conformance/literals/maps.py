"""Literals of ai.onnx.ml's maps, which ONNX's text has no words for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import helper

from rlx.program import CANONICAL_OPSET

T = onnx.TensorProto
_PYTHON = {T.FLOAT: 2.5, T.DOUBLE: 2.5, T.INT64: 7, T.STRING: "x"}
_NUMPY = {T.FLOAT: np.float32, T.DOUBLE: np.float64, T.INT64: np.int64, T.STRING: object}
Case = tuple[str, onnx.ModelProto, list[Any], list[Any]]


def _map(key: int, value: int) -> onnx.TypeProto:
    return helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))


def _model(
    operation: str, attributes: dict[str, Any], given: onnx.TypeProto, made: onnx.TypeProto
) -> onnx.ModelProto:
    node = helper.make_node(operation, ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    values = [helper.make_value_info("x", given)], [helper.make_value_info("y", made)]
    opsets = [helper.make_opsetid("", CANONICAL_OPSET), helper.make_opsetid("ai.onnx.ml", 5)]
    graph = helper.make_graph([node], "literal", *values)
    return helper.make_model(graph, opset_imports=opsets, ir_version=onnx.IR_VERSION)


def models() -> Iterator[Case]:
    """The operation, a model of it, its inputs and its outputs."""
    for key, name, labels in (
        (T.STRING, "classlabels_strings", ["a", "b"]),
        (T.INT64, "classlabels_int64s", [4, 5]),
    ):
        for shape in ((2,), (1, 2)):
            made = helper.make_sequence_type_proto(_map(key, T.FLOAT))
            given = helper.make_tensor_type_proto(T.FLOAT, shape)
            x = np.array([0.5, 2], np.float32).reshape(shape)
            y: Any = [dict(zip(labels, [0.5, 2.0], strict=True))]
            yield "ai.onnx.ml::ZipMap", _model("ZipMap", {name: labels}, given, made), [x], [y]
    for value in (T.FLOAT, T.STRING):
        for target, code in (("FLOAT", T.FLOAT), ("INT64", T.INT64), ("STRING", T.STRING)):
            if (value, code) in ((T.FLOAT, T.STRING), (T.FLOAT, T.INT64)):
                continue  # ONNX does not say how numbers are written or rounded
            held = {5: "3", 2: "4"} if value == T.STRING else {5: 3.0, 2: 4.0}
            made = helper.make_tensor_type_proto(code, None)
            y = np.array([["4", "3"]] if code == T.STRING else [[4, 3]], _NUMPY[code])
            model = _model("CastMap", {"cast_to": f"TO_{target}"}, _map(T.INT64, value), made)
            yield "ai.onnx.ml::CastMap", model, [held], [y]
    for key, name, words in (
        (T.STRING, "string_vocabulary", ["a", "c"]),
        (T.INT64, "int64_vocabulary", [9, 4]),
    ):
        for value in (T.FLOAT, T.DOUBLE, T.STRING if key == T.INT64 else T.INT64):
            made = helper.make_tensor_type_proto(value, None)
            y = np.array(["" if value == T.STRING else 0, _PYTHON[value]], _NUMPY[value])
            model = _model("DictVectorizer", {name: words}, _map(key, value), made)
            yield "ai.onnx.ml::DictVectorizer", model, [{words[1]: _PYTHON[value]}], [y]
