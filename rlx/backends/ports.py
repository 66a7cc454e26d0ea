"""A program's inputs and outputs alone, as a payload's part keeps them for its executable."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.errors import CorruptArtifact
from rlx.program.types import Value, ValueType

if TYPE_CHECKING:
    from rlx.program.types import Interface

PART = "ports.json"


@dataclass(frozen=True, slots=True)
class Ports:
    """A name, and every input and output in order: what callers see of a program."""

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    @classmethod
    def of(cls, program: Interface) -> Ports:
        """The program's."""
        return cls(program.name, program.inputs, program.outputs)

    def to_bytes(self) -> bytes:
        """As JSON: the same bytes for the same ports."""
        sides = [[_plain(value) for value in side] for side in (self.inputs, self.outputs)]
        return json.dumps([self.name, *sides], separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes | str) -> Ports:
        """As `to_bytes` wrote them.

        Raises:
            CorruptArtifact: it is something else.
        """
        try:
            name, inputs, outputs = json.loads(data)
            return cls(str(name), tuple(map(_value, inputs)), tuple(map(_value, outputs)))
        except (TypeError, ValueError, RecursionError) as error:
            raise CorruptArtifact("the payload does not say what its values are") from error


def _plain(value: Value) -> list[Any]:
    kind = value.type
    return [value.name, kind.dtype, None if kind.shape is None else list(kind.shape), kind.kind]


def _value(plain: Any) -> Value:
    name, dtype, shape, kind = plain
    return Value(name, ValueType(dtype, None if shape is None else tuple(shape), kind))
