"""Features of ai.onnx.ml: picking, joining, filling in and scaling columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site


def real(x: Array) -> Array:
    """Numbers as float32, or float64 where they are that."""
    return x if x.dtype == np.float64 else x.astype(np.float32)


def rows(x: Array) -> Array:
    """A matrix; a line is one row.

    Raises:
        ValueError: it has another number of dimensions.
    """
    if x.ndim not in (1, 2):
        raise ValueError(f"the shape is {x.shape}, and it takes (N, C) or (C,)")
    return x.reshape(1, -1) if x.ndim == 1 else x


def _extract(_: Site) -> Kernel:
    """Columns of the last axis; a line becomes a matrix of one row."""

    def extract(x: Array, at: Array) -> Array:
        found = x[..., at.reshape(-1)]
        return found.reshape(1, -1) if x.ndim == 1 else found

    return Fresh(extract)


def _binarizer(site: Site) -> Kernel:
    threshold = site.attributes["threshold"]
    return Fresh(lambda x: np.asarray(x > threshold).astype(x.dtype))


def _vectorizer(site: Site) -> Kernel:
    """Inputs side by side, each cut or filled with zeros to its number of columns."""
    widths = site.attributes.get("inputdimensions") or ()
    if len(widths) != len(site.inputs):
        raise NotImplementedError(f"{len(widths)} inputdimensions for {len(site.inputs)} inputs")

    def join(*inputs: Array) -> Array:
        parts = list(map(rows, inputs))
        y = np.zeros((len(parts[0]), sum(widths)), np.float32)
        start = 0
        for part, width in zip(parts, widths, strict=True):
            kept = min(width, part.shape[1])
            y[:, start : start + kept] = part[:, :kept]
            start += width
        return y

    return Fresh(join)


def _imputer(site: Site) -> Kernel:
    """One value, which may be NaN, is replaced: in each column by that column's."""
    first = site.inputs[0]
    kind = "int64" if first is not None and first.dtype.startswith("int") else "float"
    values = site.attributes.get(f"imputed_value_{kind}s")
    replaced = site.attributes[f"replaced_value_{kind}"]
    if not values:
        raise NotImplementedError(f"no imputed_value_{kind}s for an input of {kind}")
    fills = np.asarray(values)

    def fill(x: Array) -> Array:
        if fills.size not in (1, x.shape[-1]):
            raise ValueError(f"{fills.size} values for {x.shape[-1]} columns")
        wanted = np.isnan(x) if replaced != replaced else x == x.dtype.type(replaced)
        return np.where(wanted, fills.astype(x.dtype), x)

    return Fresh(fill)


def _normalizer(site: Site) -> Kernel:
    """Each row by its greatest value, sum of absolute values, or length; zeros stay."""
    norm = site.attributes["norm"]
    norms: dict[str, Any] = {
        "MAX": lambda x: x.max(axis=1, keepdims=True),
        "L1": lambda x: np.abs(x).sum(axis=1, keepdims=True),
        "L2": lambda x: np.sqrt(np.square(x).sum(axis=1, keepdims=True)),
    }
    if norm not in norms:
        raise NotImplementedError(f"norm {norm!r}")
    measure = norms[norm]

    def normalize(x: Array) -> Array:
        line = rows(real(x))
        if not line.size:
            return np.zeros(x.shape, np.float32)
        size = measure(line)
        y = line / np.where(size == 0, 1, size).astype(line.dtype)
        return y.astype(np.float32).reshape(x.shape)

    return Fresh(normalize)


def _scaler(site: Site) -> Kernel:
    """`(x - offset) * scale`, each one number or one for each column."""
    offset = np.asarray(site.attributes.get("offset", (0.0,)), np.float32)
    scale = np.asarray(site.attributes.get("scale", (1.0,)), np.float32)

    def apply(x: Array) -> Array:
        for name, held in (("offset", offset), ("scale", scale)):
            if held.size not in (1, x.shape[-1]):
                raise ValueError(f"{name} has {held.size} values for {x.shape[-1]} columns")
        return ((real(x) - offset) * scale).astype(np.float32)

    return Fresh(apply)


KERNELS: dict[str, Builder] = {
    "ai.onnx.ml::ArrayFeatureExtractor": _extract,
    "ai.onnx.ml::Binarizer": _binarizer,
    "ai.onnx.ml::FeatureVectorizer": _vectorizer,
    "ai.onnx.ml::Imputer": _imputer,
    "ai.onnx.ml::Normalizer": _normalizer,
    "ai.onnx.ml::Scaler": _scaler,
}
HOSTED = dict.fromkeys(KERNELS)
