"""What goes into a package and comes out: NumPy arrays of the program's dtypes, as Core ML's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.errors import CorruptArtifact, InputError, printable

if TYPE_CHECKING:
    from rlx.program import Program

KEY = "rlx.interface"
"""Where a package says what its values are to the program, among its own metadata."""
HELD = {"float32": "float32", "float16": "float16", "int32": "int32", "int64": "int32"}
"""The dtype of an input or output of a package, by the program's; truth values are int32 there."""
INT32 = np.iinfo(np.int32)


@dataclass(frozen=True, slots=True)
class Port:
    """One input or output: as the program has it."""

    name: str
    dtype: str
    ndim: int

    def into(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The array as the package takes it: a scalar has one axis.

        Raises:
            InputError: an integer does not fit 32 bits.
        """
        if self.dtype == "int64" and array.size:
            low, high = int(array.min()), int(array.max())
            if low < INT32.min or high > INT32.max:
                worst = low if low < INT32.min else high
                raise InputError(
                    f"input {printable(self.name)!r} holds {worst}, an mlpackage holds int64 "
                    "as int32",
                    fix="run the program on another backend.",
                )
        held = array.astype(HELD.get(self.dtype, "int32"))
        return held if self.ndim else held.reshape(1)

    def out_of(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What the package gave, as the program has it, in memory of its own."""
        made = np.array(array, dtype=self.dtype)
        return made if self.ndim else made.reshape(())


@dataclass(frozen=True, slots=True)
class Interface:
    """Every input and every output of a package, in the program's order."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    @classmethod
    def of(cls, program: Program) -> Interface:
        """The program's."""
        sides = (
            tuple(Port(one.name, one.type.dtype, len(one.type.shape or ())) for one in side)
            for side in (program.inputs, program.outputs)
        )
        return cls(*sides)

    def to_text(self) -> str:
        """As a package keeps it."""
        sides = ([[p.name, p.dtype, p.ndim] for p in side] for side in (self.inputs, self.outputs))
        return json.dumps(list(sides), separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Interface:
        """As `to_text` wrote it.

        Raises:
            CorruptArtifact: it is something else.
        """
        try:
            inputs, outputs = json.loads(text)
            return cls(tuple(Port(*one) for one in inputs), tuple(Port(*one) for one in outputs))
        except (TypeError, ValueError) as error:
            raise CorruptArtifact("the package does not say what its values are") from error
