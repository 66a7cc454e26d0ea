"""SVMClassifier and SVMRegressor of ai.onnx.ml: all rows against all support vectors at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlx.backends.array.kernels.features import rows
from rlx.backends.array.kernels.linear_models import class_labels
from rlx.backends.array.kernels.scores import logistic, transform
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

TURNS = 100
"""Steps towards probabilities that agree with those of all pairs; they rarely take ten."""


def similarity(site: Site) -> Callable[[Array, Array], Array]:
    """The kernel function: of x (n, columns) and vectors (m, columns), an array (n, m).

    Raises:
        NotImplementedError: an unknown kernel, or one without its parameters.
    """
    kind = site.attributes["kernel_type"]
    gamma, shift, degree = (*(site.attributes.get("kernel_params") or ()), 0.0, 0.0, 0.0)[:3]
    products: dict[str, Callable[[Array, Array], Array]] = {
        "LINEAR": lambda x, v: x @ v.T,
        "POLY": lambda x, v: (x @ v.T * gamma + shift) ** int(degree),
        "SIGMOID": lambda x, v: np.tanh(x @ v.T * gamma + shift),
        "RBF": lambda x, v: np.exp(-gamma * _squared_distance(x, v)),
    }
    if kind not in products:
        raise NotImplementedError(f"kernel_type {kind!r}")
    return products[kind]


def _squared_distance(x: Array, v: Array) -> Array:
    squares = (x * x).sum(axis=1)[:, None] + (v * v).sum(axis=1)
    return np.maximum(squares - 2 * (x @ v.T), 0)


def _floats(site: Site, name: str) -> Array:
    return np.asarray(site.attributes.get(name) or (), np.float64)


def _regressor(site: Site) -> Kernel:
    """A weighted sum over support vectors; without any, of the features themselves."""
    count = site.attributes["n_supports"]
    coefficients, rho = _floats(site, "coefficients"), _floats(site, "rho")
    if not rho.size or not coefficients.size or site.attributes["post_transform"] != "NONE":
        raise NotImplementedError("no rho, no coefficients, or a post_transform of one score")
    one_class = bool(site.attributes["one_class"])
    vectors = _floats(site, "support_vectors").reshape(count, -1) if count else None
    compare = similarity(site)

    def score(x: Array) -> Array:
        wide = rows(x).astype(np.float64)
        held = wide if vectors is None else compare(wide, vectors)
        y = held @ coefficients + rho[0]
        y = np.where(y > 0, 1, -1) if one_class else y
        return np.asarray(y[:, None], np.float32)

    return Fresh(score)


def _pairs(count: int) -> list[tuple[int, int]]:
    return [(one, other) for one in range(count) for other in range(one + 1, count)]


def _decisions(site: Site, sizes: list[int]) -> Callable[[Array], Array]:
    """The scores (rows, pairs) of each two classes; above 0 the first of them wins."""
    total = sum(sizes)
    starts = np.cumsum([0, *sizes])
    vectors = _floats(site, "support_vectors").reshape(total, -1)
    coefficients = _floats(site, "coefficients").reshape(-1, total)
    rho = _floats(site, "rho")
    pairs = _pairs(len(sizes))
    if len(rho) != len(pairs) or len(coefficients) != len(sizes) - 1:
        raise NotImplementedError(f"{len(rho)} rho and {coefficients.size} coefficients")
    weights = np.zeros((total, len(pairs)))
    for place, (one, other) in enumerate(pairs):
        first, second = (slice(starts[c], starts[c + 1]) for c in (one, other))
        weights[first, place] = coefficients[other - 1, first]
        weights[second, place] = coefficients[one, second]
    compare = similarity(site)
    return lambda x: compare(x, vectors) @ weights + rho


def agreed(chances: Array) -> Array:
    """Probabilities of classes (rows, k) from those of pairs (rows, k, k): [i, j] that it is i.

    T.-F. Wu, C.-J. Lin, R. C. Weng, "Probability Estimates for Multi-class Classification by
    Pairwise Coupling", 2004, their second method, solved step by step as they do.
    """
    n, k = chances.shape[:2]
    q = -np.swapaxes(chances, 1, 2) * chances
    diagonal = np.arange(k)
    q[:, diagonal, diagonal] = (np.swapaxes(chances, 1, 2) ** 2).sum(axis=2)
    p = np.full((n, k), 1 / k)
    moving = np.arange(n)
    for _ in range(max(TURNS, k)):
        part, state = q[moving], p[moving]
        slopes = (part @ state[:, :, None])[:, :, 0]
        level = (state * slopes).sum(axis=1)
        going = np.abs(slopes - level[:, None]).max(axis=1) >= 0.005 / k
        moving, part, state = moving[going], part[going], state[going]
        slopes, level = slopes[going], level[going]
        if not moving.size:
            break
        for t in range(k):
            own = part[:, t, t]
            change = (level - slopes[:, t]) / own
            state[:, t] += change
            level = (level + change * (change * own + 2 * slopes[:, t])) / (1 + change) ** 2
            state /= (1 + change)[:, None]
            slopes = (slopes + change[:, None] * part[:, t]) / (1 + change)[:, None]
        p[moving] = state
    return p


def _probabilities(scores: Array, count: int, a: Array, b: Array) -> Array:
    """Each pair's score through its sigmoid, then what all pairs agree on."""
    sure = np.clip(1 - logistic(scores * a + b), 1e-7, 1 - 1e-7)
    chances = np.zeros((len(scores), count, count))
    for place, (one, other) in enumerate(_pairs(count)):
        chances[:, one, other] = sure[:, place]
        chances[:, other, one] = 1 - sure[:, place]
    return agreed(chances)


def _classifier(site: Site) -> Kernel:
    """The class with the most won pairs, and the pairs' scores or the classes' probabilities.

    Raises:
        NotImplementedError: no support vectors, or coefficients none of which is below 0, where
            implementations follow rules of their own.
    """
    labels = class_labels(site)
    sizes = list(site.attributes.get("vectors_per_class") or ())
    if labels is None or len(labels) != len(sizes) or len(labels) < 2:
        raise NotImplementedError("no support vectors for each of two classes or more")
    if _floats(site, "coefficients").min(initial=0) >= 0:
        raise NotImplementedError("no coefficient is below 0")
    a, b = _floats(site, "prob_a"), _floats(site, "prob_b")
    name = site.attributes["post_transform"]
    count = len(labels)
    if count == 2 and not a.size and name not in {"NONE", "LOGISTIC"}:
        raise NotImplementedError(f"post_transform {name!r} of one score for two classes")
    decide = _decisions(site, sizes)
    finish = transform(name)
    pairs = _pairs(count)

    def classify(x: Array) -> tuple[Array, Array]:
        scores = decide(rows(x).astype(np.float64))
        won = np.zeros((len(scores), count), np.int64)
        for place, (one, other) in enumerate(pairs):
            first = scores[:, place] > 0
            won[:, one] += first
            won[:, other] += ~first
        if a.size:
            z = _probabilities(scores, count, a, b)
        else:
            z = np.concatenate([-scores, scores], axis=1) if count == 2 else scores
        return labels[np.argmax(won, axis=1)], finish(z).astype(np.float32)

    return Fresh(classify if site.outputs > 1 else lambda x: classify(x)[0])


KERNELS: dict[str, Builder] = {
    "ai.onnx.ml::SVMClassifier": _classifier,
    "ai.onnx.ml::SVMRegressor": _regressor,
}
HOSTED = dict.fromkeys(KERNELS)
