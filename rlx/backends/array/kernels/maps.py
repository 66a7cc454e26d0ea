"""Maps of ai.onnx.ml, which are Python dicts: ZipMap, CastMap, DictVectorizer."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.backends.array.dtypes import numpy_dtype
from rlx.backends.array.kernels.features import rows
from rlx.backends.array.kernels.strings import objects
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

Map = dict[Any, Any]
_CASTS: dict[str, tuple[type, Any, Any]] = {
    "TO_FLOAT": (float, np.float32, 0.0),
    "TO_STRING": (str, object, "0"),
    "TO_INT64": (int, np.int64, 0),
}


def _zip(site: Site) -> Kernel:
    """Each row becomes a map from the class labels to its numbers."""
    keys = site.attributes.get("classlabels_strings") or site.attributes.get("classlabels_int64s")
    if not keys:
        raise NotImplementedError("no class labels")

    def make(x: Array) -> list[Map]:
        matrix = rows(x)
        if matrix.shape[1] != len(keys):
            raise ValueError(f"{len(keys)} class labels for {matrix.shape[1]} columns")
        return [dict(zip(keys, line, strict=True)) for line in matrix.tolist()]

    return Fresh(make)


def _cast(site: Site) -> Kernel:
    """The values in the order of their keys: close together, or each at its key's place."""
    form = site.attributes["map_form"]
    wanted = site.attributes["cast_to"]
    if form not in {"DENSE", "SPARSE"} or wanted not in _CASTS:
        raise NotImplementedError(f"map_form {form!r} and cast_to {wanted!r}")
    read, dtype, filler = _CASTS[wanted]
    if form == "SPARSE" and wanted == "TO_STRING":
        raise NotImplementedError("what fills a sparse map of strings is not defined")
    room = site.attributes["max_map"]

    def cast(held: Map) -> Array:
        keys = sorted(held)
        if form == "DENSE":
            return objects((read(held[key]) for key in keys), (1, len(keys))).astype(dtype)
        if keys and not 0 <= keys[0] <= keys[-1] < room:
            raise ValueError(f"the keys {keys[0]} to {keys[-1]} are not all in 0 to {room - 1}")
        values = (read(held[key]) if key in held else filler for key in range(room))
        return objects(values, (1, room)).astype(dtype)

    return Fresh(cast)


def _vectorize(site: Site) -> Kernel:
    """The map's values at their keys' places in the vocabulary; 0 or "" for keys it lacks."""
    attributes = site.attributes
    vocabulary = attributes.get("string_vocabulary") or attributes.get("int64_vocabulary")
    output = site.output_types[0]
    if not vocabulary or output is None or not output.dtype:
        raise NotImplementedError("no vocabulary, or the output's dtype is unknown")
    known = frozenset(vocabulary)
    text = output.dtype == "string"
    dtype = numpy_dtype(output.dtype)

    def vectorize(held: Map) -> Array:
        if unknown := [key for key in held if key not in known]:
            raise ValueError(f"{unknown[0]!r} is not in the vocabulary")
        values = (held.get(key, "" if text else 0) for key in vocabulary)
        return objects(values, (len(vocabulary),)).astype(dtype)

    return Fresh(vectorize)


KERNELS: dict[str, Builder] = {
    "ai.onnx.ml::ZipMap": _zip,
    "ai.onnx.ml::CastMap": _cast,
    "ai.onnx.ml::DictVectorizer": _vectorize,
}
HOSTED = dict.fromkeys(KERNELS)
