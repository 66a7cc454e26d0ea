"""Literals of ai.onnx.ml and of the optimizers, at each dtype that an operand may have."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from rlx.conformance.literals.literal import Array, Literal

T = onnx.TensorProto
ML = "ai.onnx.ml::"
TRAINING = "ai.onnx.preview.training::"
REALS = (np.float32, np.float64, np.int32, np.int64)


def s(*values: Any) -> Array:
    """Strings."""
    return np.array(values, object)


def n(*values: Any) -> Array:
    """int64."""
    return np.array(values, np.int64)


def f(*values: Any) -> Array:
    """float32."""
    return np.array(values, np.float32)


def tensor(*values: Any, dtype: Any = np.float32) -> onnx.TensorProto:
    """An attribute's tensor."""
    if isinstance(values[0], str):
        return onnx.helper.make_tensor("t", T.STRING, [len(values)], list(values))
    return onnx.numpy_helper.from_array(np.array(values, dtype))


def _at_each(*cases: tuple[str, dict[str, Any], Any, Any], same: bool = False) -> list[Literal]:
    """The cases with their first input, and where `same` the output, at each of the four dtypes."""
    return [
        (ML + operation, attributes, [np.array(x).astype(dtype)], y.astype(dtype) if same else y)
        for operation, attributes, x, y in cases
        for dtype in REALS
    ]


X = [[1, 2], [3, -4]]
LABELS: list[Literal] = [
    (ML + "LabelEncoder", {"keys_int64s": [1, 5], "values_strings": ["x", "y"]},
     [n(5, 2)], s("y", "_Unused")),
    (ML + "LabelEncoder", {"keys_floats": [2.0, 1.0], "values_floats": [0.5, 3.0]},
     [f(1, 9)], f(3, -0.0)),
    (ML + "LabelEncoder", {"keys_strings": ["a"], "values_strings": ["b"]},
     [s("a", "q")], s("b", "_Unused")),
    (ML + "LabelEncoder", {"keys_int64s": [4], "values_int64s": [7], "default_int64": 2},
     [n(4, 5)], n(7, 2)),
    *(
        (ML + "LabelEncoder",
         {"keys_tensor": tensor(3, 1, dtype=key), "values_tensor": tensor(7, 8, dtype=value),
          "default_tensor": tensor(9, dtype=value)},
         [np.array([1, 3, 2], key)], np.array([8, 7, 9], value))
        for key in (*REALS, np.int16) for value in (*REALS, np.int16)
    ),
    *(
        (ML + "LabelEncoder",
         {"keys_tensor": tensor("a", "b"), "values_tensor": tensor(7, 8, dtype=value),
          "default_tensor": tensor(9, dtype=value)},
         [s("b", "?")], np.array([8, 9], value))
        for value in (*REALS, np.int16)
    ),
    *(
        (ML + "LabelEncoder",
         {"keys_tensor": tensor(7, 8, dtype=key), "values_tensor": tensor("a", "b"),
          "default_tensor": tensor("none")},
         [np.array([8, 1], key)], s("b", "none"))
        for key in (*REALS, np.int16)
    ),
    (ML + "CategoryMapper", {"cats_strings": ["a"], "cats_int64s": [4]}, [s("a", "b")], n(4, -1)),
    (ML + "CategoryMapper", {"cats_strings": ["a"], "cats_int64s": [4]},
     [n([4], [5])], s(["a"], ["_Unused"])),
    (ML + "OneHotEncoder", {"cats_strings": ["a", "b"]}, [s("b", "c")], f([0, 1], [0, 0])),
    (ML + "ArrayFeatureExtractor", {}, [s("a", "b"), n(1, 0)], s(["b", "a"])),
    *((ML + "ArrayFeatureExtractor", {}, [np.array(X, dtype), n(1)], np.array([[2], [-4]], dtype))
      for dtype in REALS),
]  # fmt: skip
FEATURES: list[Literal] = [
    *_at_each(
        ("OneHotEncoder", {"cats_int64s": [1, 5]}, [5, 1], f([0, 1], [1, 0])),
        ("OneHotEncoder", {"cats_int64s": [1, 5]}, [[5], [2]], f([[0, 1]], [[0, 0]])),
        ("FeatureVectorizer", {"inputdimensions": [3]}, X, f([1, 2, 0], [3, -4, 0])),
        ("FeatureVectorizer", {"inputdimensions": [1]}, X, f([1], [3])),
        ("Normalizer", {"norm": "MAX"}, [[1, 4], [0, 0]], f([0.25, 1], [0, 0])),
        ("Normalizer", {"norm": "L1"}, [[1, -3], [0, 0]], f([0.25, -0.75], [0, 0])),
        ("Normalizer", {"norm": "L2"}, [[3, -4], [0, 0]], f([0.6, -0.8], [0, 0])),
        ("Scaler", {"offset": [1.0, 2.0], "scale": [2.0, 0.5]}, X, f([0, 0], [4, -3])),
        ("Scaler", {"offset": [1.0], "scale": [2.0]}, X, f([0, 2], [4, -10])),
        ("LinearRegressor", {"coefficients": [1.0, 2.0], "intercepts": [0.5]}, X, f([5.5], [-4.5])),
        ("LinearRegressor", {"coefficients": [1.0, 0.0, 0.0, 1.0], "targets": 2,
                             "intercepts": [0.0, 1.0]}, X, f([1, 3], [3, -3])),
        ("SVMRegressor", {"coefficients": [2.0, -1.0], "support_vectors": [1.0, 0.0, 0.0, 1.0],
                          "n_supports": 2, "rho": [0.5]}, X, f([0.5], [10.5])),
        ("SVMRegressor", {"coefficients": [1.0], "support_vectors": [1.0, 2.0], "n_supports": 1,
                          "rho": [-0.5], "kernel_type": "RBF", "kernel_params": [1.0, 0.0, 0.0],
                          "one_class": 1}, X, f([1], [-1])),
        ("SVMRegressor", {"coefficients": [1.0], "support_vectors": [1.0, 2.0], "n_supports": 1,
                          "rho": [0.0], "kernel_type": "POLY",
                          "kernel_params": [1.0, 1.0, 2.0]}, X, f([36], [16])),
        ("SVMRegressor", {"coefficients": [1.0], "support_vectors": [0.0, 0.0], "n_supports": 1,
                          "rho": [0.0], "kernel_type": "SIGMOID",
                          "kernel_params": [1.0, 0.0, 0.0]}, X, f([0], [0])),
    ),
    *_at_each(("Binarizer", {"threshold": 1.0}, [1, 2, -3], f(0, 1, 0)), same=True),
    *((ML + "Imputer", {"imputed_value_floats": [5.0, 6.0], "replaced_value_float": np.nan},
       [np.array([[np.nan, 1], [2, np.nan]], dtype)], np.array([[5, 1], [2, 6]], dtype))
      for dtype in (np.float32, np.float64)),
    *((ML + "Imputer", {"imputed_value_int64s": [7], "replaced_value_int64": 1},
       [np.array([[1, 2], [3, 1]], dtype)], np.array([[7, 2], [3, 7]], dtype))
      for dtype in (np.int32, np.int64)),
]  # fmt: skip
SVM = {
    "coefficients": [1.0, -1.0],
    "support_vectors": [1.0, 0.0, 0.0, 1.0],
    "rho": [0.25],
    "vectors_per_class": [1, 1],
}
LINEAR = {"coefficients": [1.0, 0.0, 0.0, 1.0], "intercepts": [0.0, 0.5]}
CLASSIFIERS: list[Literal] = [
    (ML + operation, {**attributes, **names}, [np.array(X, dtype)], [labels, scores])
    for dtype in REALS
    for operation, attributes, numbers, scores in (
        ("LinearClassifier", LINEAR, n(8, 7), f([1, 2.5], [3, -3.5])),
        ("SVMClassifier", SVM, n(8, 7), f([0.75, -0.75], [-7.25, 7.25])),
    )
    for names, labels in (
        ({"classlabels_ints": [7, 8]}, numbers),
        ({"classlabels_strings": ["a", "b"]}, s(*("ab"[number - 7] for number in numbers))),
    )
]
STUMP: dict[str, Any] = {
    "nodes_modes": tensor(0, dtype=np.uint8),
    "nodes_featureids": [1],
    "nodes_trueleafs": [1],
    "nodes_truenodeids": [0],
    "nodes_falseleafs": [1],
    "nodes_falsenodeids": [1],
    "tree_roots": [0],
    "leaf_targetids": [0, 1],
    "n_targets": 2,
}
TREES: list[Literal] = [
    (
        ML + "TreeEnsemble",
        STUMP | {"nodes_splits": tensor(1, dtype=dtype), "leaf_weights": tensor(5, 6, dtype=dtype)},
        [np.array(X, dtype)],
        np.array([[0, 6], [5, 0]], dtype),
    )
    for dtype in (np.float16, np.float32, np.float64)
]


def _step(rate: Any, count: int, *tensors: float, dtype: Any) -> list[Array]:
    return [rate(0.5), np.array(count), *(np.array([value], dtype) for value in tensors)]


OPTIMIZERS: list[Literal] = [
    (
        TRAINING + operation,
        attributes,
        _step(rate, count, *tensors, dtype=dtype),
        [np.array([value], dtype) for value in expected],
    )
    for rate in (np.float32, np.float64)
    for dtype in (np.float32, np.float64)
    for operation, attributes, count, tensors, expected in (
        ("Adagrad", {"epsilon": 0.0}, 0, (1, 3, 16), (0.7, 25)),
        ("Adagrad", {"epsilon": 0.0, "decay_factor": 1.0}, 1, (1, 3, 16), (0.85, 25)),
        ("Momentum", {"alpha": 0.5, "beta": 0.1, "mode": "standard", "norm_coefficient": 0.0},
         0, (9, 1, 4), (7.5, 3)),
        ("Momentum", {"alpha": 0.5, "beta": 0.5, "mode": "nesterov", "norm_coefficient": 0.0},
         1, (9, 2, 4), (7.25, 3)),
        ("Adam", {"alpha": 0.5, "beta": 0.75, "epsilon": 0.0}, 0, (5, 2, 4, 0), (3.5, 3, 1)),
    )
]  # fmt: skip

CASES: list[Literal] = LABELS + FEATURES + CLASSIFIERS + TREES + OPTIMIZERS
