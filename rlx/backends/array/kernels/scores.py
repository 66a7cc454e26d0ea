"""What ai.onnx.ml makes of scores: LOGISTIC, SOFTMAX, SOFTMAX_ZERO, PROBIT."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlx.backends.array.site import Array


def logistic(x: Array) -> Array:
    """1 / (1 + e^-x), without overflow."""
    part = 1 / (1 + np.exp(-np.abs(x)))
    return np.where(x < 0, 1 - part, part).astype(x.dtype)


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _softmax_zero(x: Array) -> Array:
    """Softmax in which scores within 1e-7 of 0 stay (almost) 0."""
    most = x.max(axis=-1, keepdims=True)
    powers = np.where(np.abs(x) > 1e-7, np.exp(x - most), x * np.exp(-most))
    total = powers.sum(axis=-1, keepdims=True)
    return np.where(total == 0, x.dtype.type(0.5), powers / np.where(total == 0, 1, total))


def _probit(x: Array) -> Array:
    """The normal distribution's quantile, by S. Winitzki's approximation of the inverse of erf."""
    y = 2 * x - 1
    log = np.log((1 - y) * (1 + y))
    half = 2 / (np.pi * 0.147) + log / 2
    return np.sqrt(2) * np.sign(y) * np.sqrt(np.sqrt(half * half - log / 0.147) - half)


_TRANSFORMS: dict[str, Callable[[Array], Array]] = {
    "NONE": lambda x: x,
    "LOGISTIC": logistic,
    "SOFTMAX": _softmax,
    "SOFTMAX_ZERO": _softmax_zero,
    "PROBIT": _probit,
}


def transform(name: str) -> Callable[[Array], Array]:
    """The function of scores (rows, classes) by its name.

    Raises:
        NotImplementedError: there is no such function.
    """
    found = _TRANSFORMS.get(name)
    if found is None:
        raise NotImplementedError(f"post_transform {name!r}")
    return lambda x: found(x) if x.size else x
