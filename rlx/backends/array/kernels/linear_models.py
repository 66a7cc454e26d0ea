"""LinearClassifier and LinearRegressor of ai.onnx.ml."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlx.backends.array.kernels.features import real, rows
from rlx.backends.array.kernels.scores import transform
from rlx.backends.array.kernels.strings import objects
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def scorer(site: Site, count: int) -> Callable[[Array], Array]:
    """The scores (rows, count) of features (rows, columns).

    Raises:
        NotImplementedError: the coefficients don't make `count` rows.
    """
    coefficients = np.asarray(site.attributes.get("coefficients") or (), np.float32)
    intercepts = site.attributes.get("intercepts")
    if not coefficients.size or coefficients.size % count:
        raise NotImplementedError(f"{coefficients.size} coefficients for {count} scores")
    if intercepts and len(intercepts) != count:
        raise NotImplementedError(f"{len(intercepts)} intercepts for {count} scores")
    matrix = np.ascontiguousarray(coefficients.reshape(count, -1).T)
    shift = np.asarray(intercepts or (0.0,), np.float32)

    def score(x: Array) -> Array:
        x = real(rows(x))
        return x @ matrix.astype(x.dtype) + shift.astype(x.dtype)

    return score


def class_labels(site: Site) -> Array | None:
    """The labels of the classes, as an array to index."""
    texts, numbers = (site.attributes.get(f"classlabels_{k}") for k in ("strings", "ints"))
    if texts:
        return objects(texts, (len(texts),))
    return np.asarray(numbers, np.int64) if numbers else None


def _classifier(site: Site) -> Kernel:
    """The label of the greatest score, and the scores.

    Raises:
        NotImplementedError: one row of coefficients for two classes, where implementations differ.
    """
    labels = class_labels(site)
    if labels is None or len(labels) < 2:
        raise NotImplementedError("fewer than two classes")
    intercepts = site.attributes.get("intercepts")
    if intercepts and len(intercepts) == 1:
        raise NotImplementedError("one score for two classes: ONNX does not say which it is")
    score = scorer(site, len(labels))
    finish = transform(site.attributes["post_transform"])

    def classify(x: Array) -> tuple[Array, Array]:
        scores = score(x)
        best = labels[np.argmax(scores, axis=1)]
        return best, finish(scores).astype(np.float32)

    return Fresh(classify if site.outputs > 1 else lambda x: classify(x)[0])


def _regressor(site: Site) -> Kernel:
    targets = site.attributes["targets"]
    name = site.attributes["post_transform"]
    if targets == 1 and name != "NONE":
        raise NotImplementedError(f"post_transform {name!r} of one target: ONNX does not define it")
    score = scorer(site, targets)
    finish = transform(name)
    return Fresh(lambda x: finish(score(x)).astype(np.float32))


KERNELS: dict[str, Builder] = {
    "ai.onnx.ml::LinearClassifier": _classifier,
    "ai.onnx.ml::LinearRegressor": _regressor,
}
HOSTED = dict.fromkeys(KERNELS)
