"""ai.onnx.ml: results that a person can check, and keys that must be known."""

from __future__ import annotations

import math

import numpy as np
import onnx
import pytest

from rlx.errors import ExecutionError
from tests.backends.array.conftest import run_model

T = onnx.TensorProto
ML = "ai.onnx.ml::"
nan = math.nan


def s(*values):
    return np.array(values, object)


def n(*values):
    return np.array(values, np.int64)


def f(*values):
    return np.array(values, np.float32)


def tensor(*values, dtype=np.float32):
    if isinstance(values[0], str):
        return onnx.helper.make_tensor("t", T.STRING, [len(values)], list(values))
    return onnx.numpy_helper.from_array(np.array(values, dtype))


X = f([1, 2], [3, -4])
CASES = [
    (
        "LabelEncoder",
        {"keys_strings": ["a", "b"], "values_int64s": [1, 2]},
        s("b", "z"),
        [n(2, -1)],
    ),
    (
        "LabelEncoder",
        {"keys_int64s": [1, 5], "values_strings": ["x", "y"]},
        n(5, 2),
        [s("y", "_Unused")],
    ),
    (
        "LabelEncoder",
        {"keys_floats": [nan, 1.0], "values_floats": [0.5, 2.0]},
        f(nan, 1),
        [f(0.5, 2)],
    ),
    (
        "LabelEncoder",
        {
            "keys_tensor": tensor("a"),
            "values_tensor": tensor(7, dtype=np.int16),
            "default_tensor": tensor(9, dtype=np.int16),
        },
        s("a", "b"),
        [np.array([7, 9], np.int16)],
    ),
    ("CategoryMapper", {"cats_strings": ["a"], "cats_int64s": [4]}, s("a", "b"), [n(4, -1)]),
    (
        "CategoryMapper",
        {"cats_strings": ["a"], "cats_int64s": [4]},
        n([4], [5]),
        [s(["a"], ["_Unused"])],
    ),
    ("OneHotEncoder", {"cats_strings": ["a", "b"]}, s("b", "c"), [f([0, 1], [0, 0])]),
    ("OneHotEncoder", {"cats_int64s": [1, 5]}, f(5.9, 1), [f([0, 1], [1, 0])]),
    ("ArrayFeatureExtractor", {}, (X, n(1)), [f([2], [-4])]),
    ("ArrayFeatureExtractor", {}, (s("a", "b"), n(1, 0)), [s(["b", "a"])]),
    ("Binarizer", {"threshold": 1.0}, f(1, 1.5, -3), [f(0, 1, 0)]),
    (
        "FeatureVectorizer",
        {"inputdimensions": [1, 3]},
        (X, f([7, 8], [9, 10])),
        [f([1, 7, 8, 0], [3, 9, 10, 0])],
    ),
    ("FeatureVectorizer", {"inputdimensions": [2]}, f(1, 2), [f([1, 2])]),
    (
        "Imputer",
        {"imputed_value_floats": [5.0, 6.0], "replaced_value_float": nan},
        f([nan, 1], [2, nan]),
        [f([5, 1], [2, 6])],
    ),
    (
        "Imputer",
        {"imputed_value_int64s": [7], "replaced_value_int64": 1},
        n([1, 2], [3, 1]),
        [n([7, 2], [3, 7])],
    ),
    ("Normalizer", {"norm": "MAX"}, f([1, 4], [0, 0]), [f([0.25, 1], [0, 0])]),
    ("Normalizer", {"norm": "L1"}, f([1, -3], [0, 0]), [f([0.25, -0.75], [0, 0])]),
    ("Normalizer", {"norm": "L2"}, f(3, -4), [f(0.6, -0.8)]),
    ("Scaler", {"offset": [1.0, 2.0], "scale": [2.0, 0.5]}, X, [f([0, 0], [4, -3])]),
    ("Scaler", {"offset": [1.0], "scale": [2.0]}, n([1, 2]), [f([0, 2])]),
    ("LinearRegressor", {"coefficients": [1.0, 2.0], "intercepts": [0.5]}, X, [f([5.5], [-4.5])]),
    (
        "LinearRegressor",
        {"coefficients": [1.0, 0.0, 0.0, 1.0], "targets": 2},
        n([7, 8]),
        [f([7, 8])],
    ),
    (
        "LinearClassifier",
        {
            "coefficients": [1.0, 0.0, 0.0, 1.0],
            "intercepts": [0.0, 0.5],
            "classlabels_strings": ["a", "b"],
        },
        X,
        [s("b", "a"), f([1, 2.5], [3, -3.5])],
    ),
    (
        "SVMRegressor",
        {
            "coefficients": [2.0, -1.0],
            "support_vectors": [1.0, 0.0, 0.0, 1.0],
            "n_supports": 2,
            "rho": [0.5],
        },
        X,
        [f([0.5], [10.5])],
    ),
    (
        "SVMRegressor",
        {
            **{
                "coefficients": [1.0],
                "support_vectors": [1.0, 2.0],
                "n_supports": 1,
                "rho": [-0.5],
            },
            **{"kernel_type": "RBF", "kernel_params": [1.0, 0.0, 0.0], "one_class": 1},
        },
        X,
        [f([1], [-1])],
    ),
    (
        "SVMClassifier",
        {
            **{"coefficients": [1.0, -1.0], "support_vectors": [1.0, 0.0, 0.0, 1.0], "rho": [0.25]},
            **{"vectors_per_class": [1, 1], "classlabels_ints": [7, 8]},
        },
        X,
        [n(8, 7), f([0.75, -0.75], [-7.25, 7.25])],
    ),
]


def kinds(arrays):
    return [
        T.STRING if x.dtype == object else onnx.helper.np_dtype_to_tensor_dtype(x.dtype)
        for x in arrays
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{list(case[1])}")
def test_literals(case, run_typed):
    operation, attributes, inputs, expected = case
    given = list(inputs) if isinstance(inputs, tuple) else [inputs]
    found = run_typed(ML + operation, attributes, given, kinds(expected))
    for got, want in zip(found, expected, strict=True):
        if want.dtype == object:
            np.testing.assert_array_equal(got, want, strict=True)
        else:
            np.testing.assert_allclose(got, want, rtol=1e-6, strict=True)


def a_map(key, value):
    return onnx.helper.make_map_type_proto(key, onnx.helper.make_tensor_type_proto(value, []))


def test_rows_become_maps(run_typed):
    kind = onnx.helper.make_sequence_type_proto(a_map(T.STRING, T.FLOAT))
    attributes = {"classlabels_strings": ["a", "b"]}
    assert run_typed(ML + "ZipMap", attributes, [X], [kind]) == [
        [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": -4.0}]
    ]
    kind = onnx.helper.make_sequence_type_proto(a_map(T.INT64, T.FLOAT))
    assert run_typed(ML + "ZipMap", {"classlabels_int64s": [4, 5]}, [f(1, 2)], [kind]) == [
        [{4: 1.0, 5: 2.0}]
    ]


MAPS = [
    ("CastMap", {}, a_map(T.INT64, T.FLOAT), {5: 1.5, 2: 2.5}, f([2.5, 1.5])),
    ("CastMap", {"cast_to": "TO_INT64"}, a_map(T.INT64, T.STRING), {1: "7"}, n([7])),
    ("CastMap", {"cast_to": "TO_STRING"}, a_map(T.INT64, T.STRING), {1: "x"}, s(["x"])),
    (
        "CastMap",
        {"map_form": "SPARSE", "max_map": 4},
        a_map(T.INT64, T.FLOAT),
        {1: 2.0},
        f([0, 2, 0, 0]),
    ),
    (
        "DictVectorizer",
        {"string_vocabulary": ["a", "c", "b", "z"]},
        a_map(T.STRING, T.INT64),
        {"a": 4, "c": 8},
        n(4, 8, 0, 0),
    ),
    (
        "DictVectorizer",
        {"int64_vocabulary": [3, 1]},
        a_map(T.INT64, T.STRING),
        {1: "x"},
        s("", "x"),
    ),
]


def run_map(operation, attributes, kind, held, expected):
    node = onnx.helper.make_node(operation, ["m"], ["y"], domain="ai.onnx.ml", **attributes)
    out = onnx.helper.make_tensor_value_info("y", kinds([expected])[0], None)
    graph = onnx.helper.make_graph([node], "one", [onnx.helper.make_value_info("m", kind)], [out])
    imports = [onnx.helper.make_opsetid(*each) for each in (("", 28), ("ai.onnx.ml", 5))]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=11)
    return run_model(model, [held])


@pytest.mark.parametrize("case", MAPS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_maps_become_tensors(case):
    (found,) = run_map(*case)
    np.testing.assert_array_equal(found, case[-1], strict=True)


def test_keys_must_be_known(run_typed):
    with pytest.raises(ExecutionError, match="'q' is not in the vocabulary"):
        run_map(
            "DictVectorizer", {"string_vocabulary": ["a"]}, a_map(T.STRING, T.INT64), {"q": 1}, n(0)
        )
    with pytest.raises(ExecutionError, match="the keys 1 to 9 are not all in 0 to 3"):
        run_map(
            "CastMap",
            {"map_form": "SPARSE", "max_map": 4},
            a_map(T.INT64, T.FLOAT),
            {1: 1.0, 9: 1.0},
            f(),
        )
    with pytest.raises(ExecutionError, match="3 is no category, and zeros is 0"):
        run_typed(ML + "OneHotEncoder", {"cats_int64s": [1], "zeros": 0}, [n(3)], [T.FLOAT])
