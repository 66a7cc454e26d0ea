"""What goes into a package and comes out: NumPy arrays of the program's dtypes, as Core ML's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import InputError, printable

if TYPE_CHECKING:
    from rlx.program.types import Value

KEY = "rlx.ports"
"""Where a package says what its values are to the program, among its own metadata."""
HELD = {"float32": "float32", "float16": "float16", "int32": "int32", "int64": "int32"}
"""The dtype of an input or output of a package, by the program's; truth values are int32 there."""
INT32 = np.iinfo(np.int32)
Array = np.ndarray[Any, Any]


def into(value: Value, array: Array) -> Array:
    """An input as the package takes it: a scalar has one axis.

    Raises:
        InputError: an integer does not fit 32 bits.
    """
    if value.type.dtype == "int64" and array.size:
        low, high = int(array.min()), int(array.max())
        if low < INT32.min or high > INT32.max:
            worst = low if low < INT32.min else high
            raise InputError(
                f"input {printable(value.name)!r} holds {worst}, an mlpackage holds int64 as int32",
                fix="run the program on another backend.",
            )
    held = array.astype(HELD.get(value.type.dtype, "int32"))
    return held if value.type.shape else held.reshape(1)


def out_of(value: Value, array: Array) -> Array:
    """What the package gave, as the program has it, in memory of its own."""
    made = np.array(array, dtype=value.type.dtype)
    return made if value.type.shape else made.reshape(())
