"""Labels of ai.onnx.ml: LabelEncoder, CategoryMapper, OneHotEncoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.backends.array.kernels.tables import index_of
from rlx.backends.array.site import Array, Builder, Fresh, Kernel, Site

_VALUES = {
    "values_tensor": ("default_tensor", None),
    "values_strings": ("default_string", object),
    "values_int64s": ("default_int64", np.int64),
    "values_floats": ("default_float", np.float32),
}
"""The attribute with the values: that of the default, and the dtype."""
_KEYS = ("keys_tensor", "keys_strings", "keys_int64s", "keys_floats")


def _only(site: Site, names: Any) -> str:
    """The one of these attributes that is given.

    Raises:
        NotImplementedError: none is, or several are.
    """
    given: list[str] = [name for name in names if site.attributes.get(name) is not None]
    if len(given) != 1:
        raise NotImplementedError(f"one of {', '.join(names)} is needed, got {given or 'none'}")
    return given[0]


def translate(keys: Any, values: Array, default: Any) -> Kernel:
    """A kernel that puts for each key its value; the default for what is no key."""
    find = index_of(keys)
    table = np.empty(len(values) + 1, values.dtype)
    table[:-1], table[-1] = values, default  # the place -1 is the last
    return Fresh(lambda x: np.asarray(table[find(x)], dtype=table.dtype))


def _distinct(keys: Any) -> Any:
    """The keys, flat.

    Raises:
        NotImplementedError: one is there twice, and implementations differ about which counts.
    """
    flat = np.ravel(keys).tolist() if isinstance(keys, np.ndarray) else list(keys)
    if len({"nan" if key != key else key for key in flat}) < len(flat):
        raise NotImplementedError("a key is there twice")
    return np.ravel(keys) if isinstance(keys, np.ndarray) else flat


def _label_encoder(site: Site) -> Kernel:
    attributes = site.attributes
    keys = attributes[_only(site, _KEYS)]
    name = _only(site, _VALUES)
    default_name, dtype = _VALUES[name]
    values = np.asarray(attributes[name], dtype)
    default = attributes.get(default_name)
    if name == "values_tensor":
        values = values.reshape(-1)
        fallback: Any = (
            "_Unused" if values.dtype == object else -1 if values.dtype.kind == "i" else -0.0
        )
        default = fallback if default is None else np.asarray(default).reshape(-1)[0]
    if len(np.ravel(keys)) != len(values):
        raise NotImplementedError(f"{len(np.ravel(keys))} keys for {len(values)} values")
    return translate(_distinct(keys), values, default)


def _category_mapper(site: Site) -> Kernel:
    """Strings become integers, and integers strings; the input's dtype says which."""
    numbers = site.attributes.get("cats_int64s") or ()
    texts = site.attributes.get("cats_strings") or ()
    if len(numbers) != len(texts):
        raise NotImplementedError(f"{len(numbers)} cats_int64s for {len(texts)} cats_strings")
    first = site.inputs[0]
    if first is not None and first.dtype == "string":
        values = np.asarray(numbers, np.int64)
        return translate(_distinct(texts), values, site.attributes["default_int64"])
    values = np.asarray(texts, object)
    return translate(_distinct(numbers), values, site.attributes["default_string"])


def _one_hot_encoder(site: Site) -> Kernel:
    """A last axis with 1 at the category's place; numbers that are no integers are cut to one."""
    name = _only(site, ("cats_int64s", "cats_strings"))
    categories = site.attributes[name]
    find = index_of(categories)
    texts = name == "cats_strings"
    lenient = bool(site.attributes.get("zeros", 1))

    def encode(x: Array) -> Array:
        at = find(x if texts else x.astype(np.int64))
        if not lenient and (at < 0).any():
            raise ValueError(f"{x[at < 0].tolist()[0]!r} is no category, and zeros is 0")
        return (at[..., None] == np.arange(len(categories))).astype(np.float32)

    return Fresh(encode)


KERNELS: dict[str, Builder] = {
    "ai.onnx.ml::LabelEncoder": _label_encoder,
    "ai.onnx.ml::CategoryMapper": _category_mapper,
    "ai.onnx.ml::OneHotEncoder": _one_hot_encoder,
}
HOSTED = dict.fromkeys(KERNELS)
