"""What an emitter knows of the one node that it emits, and how it says that it can't."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rlx.errors import UnsupportedFeature, printable

if TYPE_CHECKING:
    from rlx.backends.array.draft import Op

Array = np.ndarray[Any, Any]
Var = Any
"""A value of coremltools' builder."""
FLOATS = frozenset({"float16", "float32"})
NUMBERS = FLOATS | {"int32"}


@dataclass(slots=True)
class Site:
    """One node while it is emitted. Every size is known."""

    mb: Any
    """coremltools' builder."""
    op: Op
    values: tuple[Array | Var | None, ...]
    """Per input: an array where it is constant, else the builder's value; None where omitted."""
    dtypes: tuple[str, ...]
    """Per input, ONNX's dtype; "" where omitted."""
    constant: Callable[[Array], Var]
    """Makes a constant; 64-bit integers become 32-bit ones, where they fit."""

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute's value, with the schema's default filled in."""
        return self.op.attributes.get(name, default)

    def present(self, index: int) -> bool:
        """Whether the node has this input."""
        return index < len(self.values) and self.values[index] is not None

    def known(self, index: int) -> Array | None:
        """The input's array, where it is constant."""
        value = self.values[index] if index < len(self.values) else None
        return value if isinstance(value, np.ndarray) else None

    def need(self, index: int, what: str) -> Array:
        """The array of an input that has to be constant.

        Raises:
            UnsupportedFeature: it is computed at run time.
        """
        array = self.known(index)
        return self.refuse(f"its {what} is no constant") if array is None else array

    def ints(self, index: int, what: str) -> list[int]:
        """The integers of an input that has to be constant, as `need`."""
        return [int(one) for one in self.need(index, what).reshape(-1)]

    def shape(self, index: int) -> tuple[int, ...]:
        """The input's sizes."""
        value = self.values[index]
        return tuple(int(size) for size in value.shape)  # type: ignore[union-attr]

    def ndim(self, index: int = 0) -> int:
        """The input's number of dimensions."""
        return len(self.shape(index))

    def x(self, index: int = 0) -> Var:
        """The input as a value of the builder."""
        value = self.values[index]
        return self.constant(value) if isinstance(value, np.ndarray) else value

    def all(self) -> list[Var]:
        """Every input that is there."""
        return [self.x(index) for index in range(len(self.values)) if self.present(index)]

    def only(self, *dtypes: str) -> None:
        """Refuse other dtypes of the first input.

        Raises:
            UnsupportedFeature: it has another.
        """
        if self.dtypes[0] not in dtypes:
            self.refuse(f"{self.dtypes[0]} is not among {', '.join(sorted(dtypes))}")

    def dtype(self, index: int = 0) -> Any:
        """NumPy's dtype of an input, as the package has it."""
        return np.dtype("int32" if self.dtypes[index] == "int64" else self.dtypes[index])

    def scalar(self, value: float) -> Any:
        """A number of the first input's dtype."""
        return self.dtype().type(value)

    def axis(self, value: int, ndim: int | None = None) -> int:
        """An axis counted from the front."""
        return value % max(self.ndim() if ndim is None else ndim, 1)

    def broadcast(self, value: Var, shape: tuple[int, ...]) -> Var:
        """The value at this shape, repeated as NumPy would."""
        held = tuple(int(size) for size in value.shape)
        if held == shape:
            return value
        whole = (1,) * (len(shape) - len(held)) + held
        if whole != held:
            value = self.mb.reshape(x=value, shape=np.array(whole, np.int32))
        reps = [want // have for want, have in zip(shape, whole, strict=True)]
        return self.repeat(value, reps)

    def repeat(self, value: Var, reps: list[int]) -> Var:
        """The value repeated along each axis; booleans by way of integers."""
        if all(one == 1 for one in reps):
            return value
        truth = self.is_bool(value)
        if truth:
            value = self.mb.cast(x=value, dtype="int32")
        value = self.mb.tile(x=value, reps=np.array(reps, np.int32))
        return self.mb.cast(x=value, dtype="bool") if truth else value

    def is_bool(self, value: Var) -> bool:
        """Whether a value of the builder holds truth values."""
        return bool(value.dtype.__name__ == "bool")

    def refuse(self, why: str) -> NoReturn:
        """Say that this node can't be emitted.

        Raises:
            UnsupportedFeature: always.
        """
        raise UnsupportedFeature(
            f"the mlpackage compiler can't emit node {printable(self.op.name)!r} "
            f"{printable(self.op.operation)}: {why}",
            fix="build for another target: run `rlx backends`.",
        )


Emitter = Callable[[Site], Any]
"""Emits one node: the one output, or a tuple of outputs."""
