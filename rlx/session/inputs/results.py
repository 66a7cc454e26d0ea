"""Outputs of a compiled program: as many, and of the types, that the program declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import ContractError, printable
from rlx.session.inputs.arrays import HOST, Problem, a, as_array
from rlx.session.inputs.dtypes import numpy_dtype, onnx_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.program import Value
    from rlx.session.inputs.native import Native


def finish(
    program: str, declared: Sequence[Value], outputs: Any, *, native: Native = HOST
) -> tuple[Any, ...]:
    """The outputs as NumPy arrays.

    Raises:
        ContractError: the backend gave another number of outputs than the program has, or one
            of another dtype, number of dimensions or fixed size.
    """
    got = count(program, declared, outputs)
    pairs = zip(declared, got, strict=True)
    return tuple(_output(program, one, value, native) for one, value in pairs)


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


def _output(program: str, one: Value, value: Any, native: Native) -> Any:
    kind = one.type
    if kind.kind != "tensor":
        return _container(program, one, value, native)
    array = _array(program, one, value, native)
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
    for axis, (size, declared) in enumerate(zip(array.shape, kind.shape or (), strict=False)):
        if isinstance(declared, int) and size != declared:
            raise ContractError(
                f"{printable(program)}: output {one.name!r} has size {size} at axis {axis}, "
                f"the program declares {declared}"
            )
    return array


def _container(program: str, one: Value, value: Any, native: Native) -> Any:
    """Sequences as lists, an absent optional as None, maps as they are."""
    if isinstance(value, list | tuple):
        return [_container(program, one, element, native) for element in value]
    if value is None or isinstance(value, dict):
        return value
    return _array(program, one, value, native)


def _array(program: str, one: Value, value: Any, native: Native) -> np.ndarray[Any, Any]:
    if native.to_host is not None and value is not None and not isinstance(value, np.ndarray):
        value = native.to_host(value)
    array = as_array(value, one.type.dtype)
    if isinstance(array, Problem):
        raise ContractError(f"{printable(program)}: output {one.name!r} {array.text}")
    return array
