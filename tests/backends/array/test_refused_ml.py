"""ai.onnx.ml: attributes whose meaning ONNX leaves open are refused, with the node."""

from __future__ import annotations

import pytest

from tests.backends.array.test_literals_ml import ML, T, X, n

SVM = {"support_vectors": [1.0, 0.0, 0.0, 1.0], "rho": [0.0], "vectors_per_class": [1, 1]}
LINEAR = {"coefficients": [1.0, 2.0], "classlabels_ints": [0, 1]}
REFUSED = [
    (
        "LabelEncoder",
        {"keys_int64s": [1, 1], "values_int64s": [2, 3]},
        n(1),
        "a key is there twice",
    ),
    (
        "LinearClassifier",
        LINEAR | {"intercepts": [0.0]},
        X,
        "one score for two classes: ONNX does not say which it is",
    ),
    (
        "LinearRegressor",
        {"coefficients": [1.0, 2.0], "post_transform": "SOFTMAX"},
        X,
        "post_transform 'SOFTMAX' of one target: ONNX does not define it",
    ),
    (
        "SVMClassifier",
        SVM | {"coefficients": [1.0, 1.0], "classlabels_ints": [0, 1]},
        X,
        "no coefficient is below 0",
    ),
    (
        "SVMClassifier",
        SVM
        | {"coefficients": [1.0, -1.0], "classlabels_ints": [0, 1], "post_transform": "SOFTMAX"},
        X,
        "post_transform 'SOFTMAX' of one score for two classes",
    ),
    ("Normalizer", {"norm": "L3"}, X, "norm 'L3'"),
    ("Imputer", {"imputed_value_int64s": [1]}, X, "no imputed_value_floats for an input of float"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[0]}-{case[-1]}")
def test_what_is_refused(case, run_typed):
    operation, attributes, x, says = case
    outputs = (
        [T.INT64, T.FLOAT]
        if operation.endswith("Classifier")
        else [T.INT64 if operation == "LabelEncoder" else T.FLOAT]
    )
    with pytest.raises(
        NotImplementedError, match=rf"^node '{operation}_0' {ML}{operation}: {says}$"
    ):
        run_typed(ML + operation, attributes, [x], outputs)
