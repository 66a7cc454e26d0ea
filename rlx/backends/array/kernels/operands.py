"""Reading small integer operands, such as shapes and axes: at compile time where they are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx.backends.array.site import Array, Fresh, Kernel, Site

Ints = tuple[int, ...]


def ints(array: Array) -> Ints:
    """The values of an integer array, flattened."""
    values = array.tolist()
    return (values,) if isinstance(values, int) else tuple(values)


def present(site: Site, index: int) -> bool:
    """True when the node has this input."""
    return index < len(site.inputs) and site.inputs[index] is not None


def known(site: Site, index: int) -> Ints | None:
    """The integers of an input that is constant, else None (also where it is omitted)."""
    array = site.constants[index] if index < len(site.constants) else None
    return None if array is None else ints(array)


def with_ints(
    site: Site,
    index: int,
    make: Callable[[Ints | None], Callable[[Array], Any]],
    *,
    fresh: bool = False,
) -> Kernel:
    """A kernel of the first input and one integer operand, which may be omitted.

    `make(values)` gives the function of the first input; it is called once, when the operand is
    constant or omitted, else at each run.
    """
    if present(site, index) and known(site, index) is None:

        def late(x: Array, *operands: Array) -> Any:
            return make(ints(operands[index - 1]))(x)

        return Fresh(late) if fresh else late
    once = make(known(site, index))

    def early(x: Array, *_: Array) -> Any:
        return once(x)

    return Fresh(early) if fresh else early


def axis_of(axis: int, ndim: int) -> int:
    """The axis counted from the front."""
    return axis + ndim if axis < 0 else axis


def axis_within(axis: int, ndim: int) -> int:
    """The axis counted from the front.

    Raises:
        ValueError: there is no such axis.
    """
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is not one of {ndim}")
    return axis_of(axis, ndim)
