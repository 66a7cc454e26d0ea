"""Reading the plain arguments of a graph's methods: whole numbers, axes, shapes, names."""

from __future__ import annotations

import operator
from typing import Any

from rlx.device import shown
from rlx.errors import GraphError
from rlx.program.graph.operands import Dims, Operand, shape_text

MOST = 2**63 - 1
"""The largest whole number that ONNX can state."""


def whole(method: str, argument: str, value: Any, *, least: int | None = None) -> int:
    """A whole number of 64 bits, `least` or above.

    Raises:
        GraphError: it is none.
    """
    wanted = "a whole number" if least is None else f"a whole number of {least} or above"
    try:
        number = operator.index(value)
    except Exception:  # noqa: BLE001 - a foreign number's own; the message says what it is
        number = None
    if number is not None and not -MOST - 1 <= number <= MOST:
        wanted += ", in 64 bits"
        number = None
    if number is None or isinstance(value, bool) or (least is not None and number < least):
        raise GraphError(f"{method}: {argument} must be {wanted}, got {shown(value)}")
    return number


def real(method: str, argument: str, value: Any) -> float:
    """A number.

    Raises:
        GraphError: it is none.
    """
    try:
        number = float(value) if hasattr(value, "__float__") else None
    except Exception:  # noqa: BLE001 - as in `whole`
        number = None
    if number is None or isinstance(value, bool):
        raise GraphError(f"{method}: {argument} must be a number, got {shown(value)}")
    return number


def flag(method: str, argument: str, value: Any) -> bool:
    """True or False.

    Raises:
        GraphError: it is neither.
    """
    if not isinstance(value, bool):
        raise GraphError(f"{method}: {argument} must be True or False, got {shown(value)}")
    return value


def listed(method: str, argument: str, values: Any, of: str) -> list[Any]:
    """The members of a list or tuple.

    Raises:
        GraphError: it is neither.
    """
    try:
        members = None if isinstance(values, str | bytes) else iter(values)
    except TypeError:  # an array without a dimension says so only when it is asked
        members = None
    if members is None:
        raise GraphError(f"{method}: {argument} must be a list of {of}, got {shown(values)}")
    return list(members)


def integers(method: str, argument: str, values: Any, *, least: int | None = None) -> list[int]:
    """A list of whole numbers.

    Raises:
        GraphError: it is none.
    """
    members = listed(method, argument, values, "whole numbers")
    return [
        whole(method, f"{argument}[{place}]", one, least=least) for place, one in enumerate(members)
    ]


def shape(method: str, values: Any, *, symbols: bool = False) -> Dims:
    """The shape of an input: sizes of 0 or above, or (with `symbols`) names of sizes.

    Raises:
        GraphError: it is none.
    """
    found: list[int | str] = []
    for place, size in enumerate(listed(method, "shape", values, "sizes")):
        if symbols and isinstance(size, str):
            if not size.isidentifier():
                raise GraphError(
                    f"{method}: shape[{place}] must be a size or a name, got {shown(size)}",
                    fix="name a size that may vary with letters, such as 'n'.",
                )
            found.append(size)
        else:
            found.append(whole(method, f"shape[{place}]", size, least=0))
    return tuple(found)


def text(method: str, argument: str, value: Any) -> str:
    """A name: text that is not empty.

    Raises:
        GraphError: it is none.
    """
    if not isinstance(value, str) or not value:
        raise GraphError(f"{method}: {argument} must be text, not empty, got {shown(value)}")
    if not value.isascii() and any("\ud800" <= one <= "\udfff" for one in value):
        raise GraphError(f"{method}: {argument} holds half a character, got {shown(value)}")
    return value


def ranked(method: str, operand: Operand) -> Dims:
    """The operand's dimensions, whose number must be known.

    Raises:
        GraphError: it is not.
    """
    if operand.dims is None:
        raise GraphError(f"{method}: the number of dimensions of {operand.argument} is not known")
    return operand.dims


def sized(method: str, operand: Operand, axis: int) -> int:
    """The operand's size on an axis, which must be a number.

    Raises:
        GraphError: it is a symbol, or not known.
    """
    size = ranked(method, operand)[axis]
    if not isinstance(size, int):
        raise GraphError(
            f"{method}: {operand}, its size on axis {axis} must be a number",
            fix="declare the input with that size.",
        )
    return size


def axis_of(method: str, argument: str, value: Any, operand: Operand) -> int:
    """An axis of the operand, from 0; negative ones count from the last.

    Raises:
        GraphError: the operand has no such axis.
    """
    axis, ndim = whole(method, argument, value), len(ranked(method, operand))
    if not -ndim <= axis < ndim:
        takes = f"{argument} must be from {-ndim} to {ndim - 1}" if ndim else "it has no axes"
        raise GraphError(f"{method}: {operand}, so {takes}, got {argument} = {axis}")
    return axis % ndim


def axes_of(method: str, argument: str, values: Any, operand: Operand) -> list[int]:
    """Axes of the operand, from 0, each at most once.

    Raises:
        GraphError: there is no such axis, or it is named twice.
    """
    members = integers(method, argument, values)
    axes = [
        axis_of(method, f"{argument}[{place}]", one, operand) for place, one in enumerate(members)
    ]
    if len(set(axes)) < len(axes):
        raise GraphError(f"{method}: {argument} names an axis twice, got {shown(members)}")
    return axes


def takes(method: str, operand: Operand, allowed: tuple[str, ...]) -> None:
    """Refuse dtypes that the method does not take.

    Raises:
        GraphError: the operand has another.
    """
    if operand.dtype not in allowed:
        raise GraphError(
            f"{method}: {operand}, it takes {', '.join(allowed)}",
            fix=f"convert it with cast({operand.argument}, {allowed[0]!r}), if that is meant.",
        )


def alike(method: str, one: Operand, other: Operand) -> None:
    """Refuse two operands of different dtypes.

    Raises:
        GraphError: they differ.
    """
    if one.dtype != other.dtype:
        raise GraphError(
            f"{method}: {one} and {other}, both must have one dtype",
            fix=f"convert one of them, such as with cast({other.argument}, {one.dtype!r}).",
        )


def agrees(method: str, found: Operand, dims: Dims, dtype: str) -> None:
    """Refuse a result whose stated shape and dtype are not what is inferred.

    Raises:
        GraphError: they differ.
    """
    if (found.dims, found.dtype) != (dims, dtype):
        raise GraphError(
            f"{method}: the result is {shape_text(found.dtype, found.dims)}, "
            f"{shape_text(dtype, dims)} was stated"
        )
