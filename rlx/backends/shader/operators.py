"""Python's operators on lazy arrays: each is a function of the namespace."""

from __future__ import annotations

from typing import Any


def _xp() -> Any:
    import rlx.backends.shader.namespace as xp  # which is made of arrays

    return xp


def _binary(name: str, *, swapped: bool = False) -> Any:
    def operator(self: Any, other: Any) -> Any:
        function = getattr(_xp(), name)
        return function(other, self) if swapped else function(self, other)

    return operator


def _unary(name: str) -> Any:
    return lambda self: getattr(_xp(), name)(self)


class Operators:
    """What an array API's array has besides its data."""

    __slots__ = ()
    __array_priority__ = 1000
    __hash__ = object.__hash__

    __add__, __radd__ = _binary("add"), _binary("add", swapped=True)
    __sub__, __rsub__ = _binary("subtract"), _binary("subtract", swapped=True)
    __mul__, __rmul__ = _binary("multiply"), _binary("multiply", swapped=True)
    __truediv__, __rtruediv__ = _binary("divide"), _binary("divide", swapped=True)
    __floordiv__, __rfloordiv__ = (
        _binary("floor_divide"),
        _binary("floor_divide", swapped=True),
    )
    __mod__, __rmod__ = _binary("remainder"), _binary("remainder", swapped=True)
    __pow__, __rpow__ = _binary("pow"), _binary("pow", swapped=True)
    __and__, __rand__ = _binary("bitwise_and"), _binary("bitwise_and", swapped=True)
    __or__, __ror__ = _binary("bitwise_or"), _binary("bitwise_or", swapped=True)
    __xor__, __rxor__ = _binary("bitwise_xor"), _binary("bitwise_xor", swapped=True)
    __lshift__ = _binary("bitwise_left_shift")
    __rshift__ = _binary("bitwise_right_shift")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")
    __eq__ = _binary("equal")
    __ne__ = _binary("not_equal")
    __matmul__ = _binary("matmul")
    __neg__, __abs__ = _unary("negative"), _unary("abs")
    __invert__ = _unary("bitwise_invert")

    def __getitem__(self, key: Any) -> Any:
        return _xp().getitem(self, key)

    @property
    def T(self) -> Any:  # noqa: N802 - the standard's name
        """The axes in reverse."""
        xp = _xp()
        array: Any = self
        return xp.permute_dims(array, tuple(reversed(range(array.ndim))))

    @property
    def at(self) -> Any:
        """`array.at[where].set(value)` and the like: changed copies."""
        return _xp().Changes(self)

    def view(self, dtype: Any) -> Any:
        """The same bits as another dtype of as many."""
        return _xp().bitcast(self, dtype)

    def astype(self, dtype: Any) -> Any:
        """The values in another dtype."""
        return _xp().astype(self, dtype)

    def reshape(self, *shape: Any) -> Any:
        """The same values in another shape."""
        return _xp().reshape(self, shape[0] if len(shape) == 1 else shape)
