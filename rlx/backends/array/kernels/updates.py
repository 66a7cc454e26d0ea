"""Writing into part of an array: the one place where kernels do it, for libraries of either kind.

Where arrays cannot change, as in jax, `array.at[where]` makes changed copies; elsewhere the array
itself is written to. So the array must be the kernel's own, and only the result may be used on.
"""

from __future__ import annotations

from typing import Any

from rlx.backends.array.native import is_numpy
from rlx.backends.array.site import Array

_UFUNCS = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}


def put(y: Array, where: Any, value: Any) -> Array:
    """The array with `value` at `where`, a slice or index, or a tuple of them."""
    place = _place(y, where)
    if hasattr(place, "set"):
        return place.set(value)
    y[where] = value
    return y


def add(y: Array, where: Any, value: Any) -> Array:
    """The array with `value` added at `where`, slices that name no element twice."""
    place = _place(y, where)
    if hasattr(place, "add"):
        return place.add(value)
    y[where] += value
    return y


def combine(xp: Any, y: Array, places: tuple[Array, ...], values: Array, how: str) -> Array:
    """The array with `values` combined into the elements at `places`, each as often as named.

    `how` is add, mul, max or min.

    Raises:
        NotImplementedError: the library has no way to.
    """
    if is_numpy(xp):
        getattr(xp, _UFUNCS[how]).at(y, places, values)
        return y
    place = _place(y, places)
    for name in (how, _UFUNCS[how]):
        if hasattr(place, name):
            return getattr(place, name)(values)
    raise NotImplementedError(f"{xp.__name__} has no scatter with reduction {how}")


def _place(y: Array, where: Any) -> Any:
    at = getattr(y, "at", None)
    return None if at is None else at[where]
