"""Values given flat, as lists of numbers or as bytes: brought to the shape that is declared."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import InputError, printable
from rlx.program.graph.names import DTYPES, SHORT
from rlx.program.schemas import DTYPE_NAMES, DTYPE_NUMBERS
from rlx.session.inputs.arrays import a
from rlx.session.inputs.dtypes import numpy_dtype

if TYPE_CHECKING:
    from rlx.program import Value

_KINDS = {"b": "b", "i": "iuf", "f": "f"}
"""By the kind of a list's numbers, the kinds of dtypes that hold them as they are meant."""


def short_dtype(name: str) -> str:
    """What a graph calls ONNX's dtype `name`: `f32` for `float32`."""
    return SHORT[DTYPE_NUMBERS[name]]


def reshaped(value: Value, data: Any) -> Any:
    """The data in the declared shape, where it is flat or a list of numbers; else as it is."""
    shape = value.type.shape
    array = _listed(value, data) if isinstance(data, list | tuple) else data
    if shape is None or not isinstance(array, np.ndarray):
        return array
    static = tuple(size for size in shape if isinstance(size, int))
    flat = array.ndim == 1 and len(shape) != 1 and array.flags.c_contiguous
    if flat and len(static) == len(shape) and prod(static) == array.size:
        return array.reshape(static)
    return array


def from_pair(program: str, value: Value, pair: Any) -> Any:
    """As `from_bytes`, of a pair of bytes and their dtype.

    Raises:
        InputError: it is no pair, and as `from_bytes`.
    """
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise InputError(
            f"{printable(program)}: {value.name!r} takes a pair of bytes and their dtype, "
            f"got {a(pair)}",
            fix=f"pass (array.tobytes(), {short_dtype(value.type.dtype)!r}).",
        )
    return from_bytes(program, value, *pair)


def from_bytes(program: str, value: Value, data: Any, dtype: Any) -> Any:
    """The elements that bytes hold, in the declared shape.

    Raises:
        InputError: another dtype is declared, or another number of bytes.
    """
    wanted = short_dtype(value.type.dtype)
    if dtype != wanted:
        known = DTYPE_NAMES[DTYPES[dtype]] if isinstance(dtype, str) and dtype in DTYPES else dtype
        raise InputError(
            f"{printable(program)}: {value.name!r} takes {wanted}, got bytes of {known!r:.60}",
            fix=f"pass the bytes of an array of {value.type.dtype}, and {wanted!r}.",
        )
    elements = numpy_dtype(value.type.dtype)
    try:
        array = np.frombuffer(data, elements)
    except (TypeError, ValueError) as error:
        raise InputError(f"{printable(program)}: {value.name!r} can't be read: {error}") from error
    return reshaped(value, array)


def _listed(value: Value, data: Any) -> Any:
    """A list of numbers as an array of the declared dtype, where that holds them as meant."""
    dtype = numpy_dtype(value.type.dtype)
    try:
        array = np.asarray(data)
    except ValueError:  # not rectangular
        return data
    kinds = _KINDS.get(array.dtype.kind, "")
    kind = "f" if value.type.dtype == "bfloat16" else "" if dtype is None else dtype.kind
    if dtype is None or kind not in kinds:
        return data
    if kind in "iu" and array.size:
        bounds = np.iinfo(dtype)  # type: ignore[type-var]  # its kind is a whole number's
        if array.min() < bounds.min or array.max() > bounds.max:
            return data
    return array.astype(dtype)
