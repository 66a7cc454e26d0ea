"""Outputs of a compiled program: as many, and of the types, that the program declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import ContractError, printable
from rlx.session.inputs.arrays import Problem, a, as_array
from rlx.session.inputs.dtypes import numpy_dtype, onnx_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.program import Value


def finish(program: str, declared: Sequence[Value], outputs: Any) -> tuple[Any, ...]:
    """The outputs as NumPy arrays.

    Raises:
        ContractError: the backend gave another number of outputs than the program has, or one
            of another dtype or number of dimensions.
    """
    got = count(program, declared, outputs)
    return tuple(_output(program, one, value) for one, value in zip(declared, got, strict=True))


def count(program: str, declared: Sequence[Value], outputs: Any) -> tuple[Any, ...]:
    """The outputs as the backend gave them, when there are as many as declared."""
    if not isinstance(outputs, list | tuple):
        raise ContractError(f"{printable(program)}: the backend returned {a(outputs)}, not a list")
    if len(outputs) != len(declared):
        raise ContractError(
            f"{printable(program)}: the backend returned {len(outputs)} outputs, "
            f"the program has {len(declared)}"
        )
    return tuple(outputs)


def _output(program: str, one: Value, value: Any) -> Any:
    kind = one.type
    if kind.kind != "tensor":
        return _container(program, one, value)
    array = _array(program, one, value)
    wanted = numpy_dtype(kind.dtype)
    if wanted is not None and array.dtype != wanted:
        if kind.dtype == "string" and array.dtype.kind == "U":
            return array.astype(object)
        order = "" if array.dtype.isnative else f" in foreign byte order ({array.dtype.str})"
        raise ContractError(
            f"{printable(program)}: output {one.name!r} is {onnx_name(array.dtype)}{order}, "
            f"the program declares {kind.dtype}"
        )
    if kind.ndim is not None and array.ndim != kind.ndim:
        raise ContractError(
            f"{printable(program)}: output {one.name!r} has {array.ndim} dimensions, "
            f"the program declares {kind.ndim}"
        )
    return array


def _container(program: str, one: Value, value: Any) -> Any:
    """Sequences as lists, an absent optional as None, maps as they are."""
    if isinstance(value, list | tuple):
        return [_container(program, one, element) for element in value]
    if value is None or isinstance(value, dict):
        return value
    return _array(program, one, value)


def _array(program: str, one: Value, value: Any) -> np.ndarray[Any, Any]:
    array = as_array(value, one.type.dtype)
    if isinstance(array, Problem):
        raise ContractError(f"{printable(program)}: output {one.name!r} {array.text}")
    return array
