"""What operations there are: frozen records of each one's arity, attributes and allowed dtypes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rlx.operations.never import NEVER
from rlx.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_DOMAIN = "ai.onnx"
ONNX_DOMAINS = (DEFAULT_DOMAIN, "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")


@dataclass(frozen=True, slots=True)
class Formal:
    """A formal input or output: its type variable, or the one dtype it has."""

    name: str
    type: str
    option: str = "single"
    """`single`, `optional` or `variadic`."""
    min_arity: int = 1
    """The fewest values a variadic operand takes."""
    homogeneous: bool = True
    """False: each value of a variadic operand may have a dtype of its own."""


@dataclass(frozen=True, slots=True)
class FormalAttribute:
    """A formal attribute; `type` is ONNX's name: INT, FLOATS, STRING, GRAPH …"""

    name: str
    type: str
    required: bool = False
    default: Any = None
    """None: there is none, and a node may leave the attribute out."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation at the canonical opset."""

    name: str
    since: int = 1
    inputs: tuple[Formal, ...] = ()
    outputs: tuple[Formal, ...] = ()
    attributes: tuple[FormalAttribute, ...] = ()
    types: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The dtypes that each type variable may have."""
    deterministic: bool | None = None
    body: bool = False
    """True when ONNX defines the operation by a function body."""
    lowering: str | None = None
    """A manifest's own: the body of an ONNX function, in ONNX's text syntax."""
    origin: Origin = field(default=Origin(""), compare=False)

    @property
    def domain(self) -> str:
        """The operator set that the operation belongs to."""
        return self.name.partition("::")[0] if "::" in self.name else DEFAULT_DOMAIN

    @property
    def open_variables(self) -> tuple[str, ...]:
        """The type variables that allow several dtypes: a coverage row names each of them."""
        return tuple(variable for variable, dtypes in self.types if len(dtypes) > 1)

    def dtypes(self, variable: str) -> tuple[str, ...] | None:
        """The dtypes that a type variable allows; None: the operation has no such variable."""
        for name, dtypes in self.types:
            if name == variable:
                return dtypes
        return None

    def attribute(self, name: str) -> FormalAttribute | None:
        """The formal attribute of this name; None: there is none."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        return None


@dataclass(frozen=True)
class Vocabulary:
    """All known operations; the tables are filled when they are first read."""

    operations: tuple[Operation, ...]
    """Sorted by name."""
    opset: int
    """The canonical opset of the `ai.onnx` domain."""
    digest: str = ""
    """SHA-256 of the content, origins left out."""

    @cached_property
    def _by_name(self) -> dict[str, Operation]:
        return {operation.name: operation for operation in self.operations}

    @cached_property
    def lowerable(self) -> frozenset[str]:
        """The names of the operations that may be lowered: a node of one may have a body."""
        return frozenset(
            one.name
            for one in self.operations
            if (one.body or one.lowering is not None) and one.name not in NEVER
        )

    @cached_property
    def foreign(self) -> frozenset[str]:
        """The names of the operations that manifests declare, in domains of their own."""
        return frozenset(one.name for one in self.operations if one.domain not in ONNX_DOMAINS)

    @cached_property
    def known_dtypes(self) -> frozenset[str]:
        """Every dtype that some operation takes or gives."""
        return frozenset(
            dtype for one in self.operations for _, dtypes in one.types for dtype in dtypes
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Every canonical name, sorted."""
        return tuple(operation.name for operation in self.operations)

    @staticmethod
    def canonical(name: str) -> str:
        """The name with the `ai.onnx` domain left out: `ai.onnx::Add` is `Add`."""
        return name.removeprefix(f"{DEFAULT_DOMAIN}::")

    def get(self, name: str) -> Operation | None:
        """The operation of this name, with or without the `ai.onnx` domain; None: unknown."""
        return self._by_name.get(self.canonical(name))

    def extended(self, operations: Iterable[Operation], digest: str) -> Vocabulary:
        """A new vocabulary with more operations; their names are not taken (freeze checks)."""
        merged = sorted((*self.operations, *operations), key=lambda operation: operation.name)
        return Vocabulary(tuple(merged), self.opset, digest)
