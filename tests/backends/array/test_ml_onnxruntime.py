"""ai.onnx.ml beside onnxruntime: linear models, support vectors and norms of random features."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

T = onnx.TensorProto
ML = "ai.onnx.ml::"
rng = np.random.default_rng(7)


def draw(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def flat(*shape):
    return draw(*shape).ravel().tolist()


def svm(count, sizes, **more):
    total, pairs = sum(sizes), count * (count - 1) // 2
    return {
        "coefficients": flat(count - 1, total),
        "support_vectors": flat(total, 4),
        "vectors_per_class": sizes,
        "rho": flat(pairs),
        "classlabels_ints": list(range(10, 10 + count)),
        **{name: flat(pairs) if value == "pairs" else value for name, value in more.items()},
    }


PARAMETERS = {"kernel_params": [0.3, 0.1, 2.0]}
BESIDE = [
    *(
        (
            "LinearClassifier",
            {
                "coefficients": flat(3, 4),
                "intercepts": flat(3),
                "classlabels_ints": [3, 1, 7],
                "post_transform": name,
            },
        )
        for name in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
    ),
    *(
        (
            "LinearRegressor",
            {
                "coefficients": flat(2, 4),
                "intercepts": flat(2),
                "targets": 2,
                "post_transform": name,
            },
        )
        for name in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
    ),
    *(
        (
            "SVMRegressor",
            {
                "coefficients": flat(5),
                "support_vectors": flat(5, 4),
                "n_supports": 5,
                "rho": [0.3],
                "kernel_type": kind,
            }
            | PARAMETERS,
        )
        for kind in ("LINEAR", "POLY", "RBF", "SIGMOID")
    ),
    *(
        (
            "SVMClassifier",
            svm(count, [2, 3, 1, 2][:count], kernel_type=kind, **PARAMETERS, **chances),
        )
        for count in (2, 3, 4)
        for kind in ("LINEAR", "POLY", "RBF", "SIGMOID")
        for chances in ({}, {"prob_a": "pairs", "prob_b": "pairs"})
    ),
    *(("Normalizer", {"norm": name}) for name in ("MAX", "L1", "L2")),
]


@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize(
    "place", range(len(BESIDE)), ids=lambda place: f"{BESIDE[place][0]}-{place}"
)
def test_onnxruntime_agrees(place, run_beside):
    operation, attributes = BESIDE[place]
    x = np.random.default_rng(place).standard_normal((9, 4)).astype(np.float32) / 3
    outputs = [T.INT64, T.FLOAT] if operation.endswith("Classifier") else [T.FLOAT]
    ours, theirs = run_beside(ML + operation, attributes, [x], outputs)
    for got, want in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5, strict=True)
