"""ai.onnx.ml at the ends: no rows, NaN, infinities, and the largest numbers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

T = onnx.TensorProto
ML = "ai.onnx.ml::"
inf, nan = np.inf, np.nan
BIG = float(np.finfo(np.float32).max)
ROWS = {
    "no rows": np.zeros((0, 2)),
    "zeros": np.zeros((2, 2)),
    "large": np.array([[1e30, -1e30], [3e37, 1.0]]),
    "tiny": np.array([[1e-40, 1e-42], [0.0, -1e-45]]),
}
FEATURES = {
    "Binarizer": {"threshold": 0.5},
    "Scaler": {"offset": [1.0, 2.0], "scale": [2.0, 0.5]},
    "OneHotEncoder": {"cats_int64s": [0, 1]},
    "FeatureVectorizer": {"inputdimensions": [3]},
    "Imputer": {"imputed_value_floats": [5.0], "replaced_value_float": nan},
    "LinearRegressor": {"coefficients": [1.0, 2.0], "intercepts": [0.5]},
    "LinearClassifier": {
        **{"coefficients": [1.0, 0.0, 0.0, 1.0], "intercepts": [0.0, 0.5]},
        **{"classlabels_ints": [0, 1], "post_transform": "SOFTMAX"},
    },
}


CUT = ("OneHotEncoder", "large")
"""A float beyond int64 has no integer to be cut to."""
ENDS = [(operation, name) for operation in FEATURES for name in ROWS if (operation, name) != CUT]


@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize(("operation", "name"), ENDS)
def test_ends_are_answered_as_by_onnxruntime(operation, name, run_beside):
    x = ROWS[name].astype(np.float32)
    outputs = [T.INT64, T.FLOAT] if operation == "LinearClassifier" else [T.FLOAT]
    ours, theirs = run_beside(ML + operation, FEATURES[operation], [x], outputs)
    for got, want in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, strict=True)


NOT_NUMBERS = np.array([[nan, 1], [inf, -inf]], np.float32)
FOUND = [
    ("Binarizer", FEATURES["Binarizer"], [[0, 1], [1, 0]]),
    ("Scaler", FEATURES["Scaler"], [[nan, -0.5], [inf, -inf]]),
    ("Imputer", FEATURES["Imputer"], [[5, 1], [inf, -inf]]),
    (
        "Imputer",
        {"imputed_value_floats": [5.0], "replaced_value_float": inf},
        [[nan, 1], [5, -inf]],
    ),
    ("Normalizer", {"norm": "L1"}, [[nan, nan], [nan, nan]]),
    ("LinearRegressor", FEATURES["LinearRegressor"], [[nan], [nan]]),
]


@pytest.mark.parametrize("case", FOUND, ids=lambda case: f"{case[0]}-{list(case[1].values())}")
def test_what_is_no_number_stays_none(case, run_typed):
    operation, attributes, expected = case
    (found,) = run_typed(ML + operation, attributes, [NOT_NUMBERS], [T.FLOAT])
    np.testing.assert_array_equal(found, np.array(expected, np.float32), strict=True)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_the_largest_integers(dtype, run_typed):
    ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0], dtype)
    code = onnx.helper.np_dtype_to_tensor_dtype(ends.dtype)
    (found,) = run_typed(ML + "Binarizer", {"threshold": 0.0}, [ends], [code])
    np.testing.assert_array_equal(found, np.array([0, 1, 0], dtype), strict=True)
    categories = {"cats_int64s": ends[:2].tolist()}
    (found,) = run_typed(ML + "OneHotEncoder", categories, [ends], [T.FLOAT])
    np.testing.assert_array_equal(found, np.array([[1, 0], [0, 1], [0, 0]], np.float32))


def test_labels_at_the_ends(run_typed):
    ends = [np.iinfo(np.int64).min, np.iinfo(np.int64).max]
    attributes = {"keys_int64s": ends, "values_strings": ["least", "most"]}
    x = np.array([*ends, 0]).reshape(1, 3, 1)
    (found,) = run_typed(ML + "LabelEncoder", attributes, [x], [T.STRING])
    assert found.tolist() == [[["least"], ["most"], ["_Unused"]]]
    attributes = {"keys_floats": [inf, -inf, nan, 0.0], "values_int64s": [1, 2, 3, 4]}
    x = np.array([-inf, nan, inf, -0.0, 1], np.float32)
    (found,) = run_typed(ML + "LabelEncoder", attributes, [x], [T.INT64])
    assert found.tolist() == [2, 3, 1, 4, -1]
    (found,) = run_typed(ML + "LabelEncoder", attributes, [x[:0]], [T.INT64])
    assert found.shape == (0,)
