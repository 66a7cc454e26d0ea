"""What a program is made of: frozen records, free of ONNX's own classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

CANONICAL_OPSET = 28
"""The `ai.onnx` opset that every program is brought to: the newest of the pinned onnx."""
BARRIER = "rlx::Barrier"
"""The operation at which a program may be cut into stages; see `rlx.program.barriers`."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of a value.

    For a tensor, `kind` is `tensor`, `dtype` an ONNX dtype name (`float32`, `int64`, `string`,
    `bfloat16`, `float8e4m3fn`, `int4` …) and `shape` one entry per dimension: an int, a symbol's
    name, or None (unknown); `shape` None means that even the number of dimensions is unknown.
    `dtype` of a sequence, optional or map names the whole: `seq(float32)`,
    `optional(seq(int64))`, `map(string,float32)`; `kind` is then `sequence`, `optional` or `map`.
    `dtype` is "" where inference could not tell.
    """

    dtype: str
    shape: tuple[int | str | None, ...] | None = None
    kind: str = "tensor"

    @property
    def ndim(self) -> int | None:
        """The number of dimensions, or None where it is unknown."""
        return None if self.shape is None else len(self.shape)


@dataclass(frozen=True, slots=True)
class Value:
    """A named value of a program: an input or an output."""

    name: str
    type: ValueType


class Interface(Protocol):
    """What callers see of a program or of an artifact: a name, inputs and outputs."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def inputs(self) -> tuple[Value, ...]:
        """In order."""
        ...

    @property
    def outputs(self) -> tuple[Value, ...]:
        """In order."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Nodes in topological order: a program's main body, or the body of If, Loop or Scan.

    `constants` are (name, array) pairs: the initializers, read-only. A subgraph may also read
    values of the blocks around it.
    """

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    constants: tuple[tuple[str, np.ndarray[Any, Any]], ...] = ()
    types: tuple[tuple[str, ValueType], ...] = ()
    """The inferred type of every value that the block computes or holds, by name."""


Attribute = Any
"""int, float, str, bytes (a string that is not UTF-8), a read-only NumPy array (a tensor), a Block
(a graph), a ValueType (a type), or a tuple of one of these."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operation applied once.

    `operation` is `Name` in the `ai.onnx` domain and `domain::Name` elsewhere. Omitted inputs and
    outputs are "". `attributes` are those written on the node, in name order; `signature` has
    the defaults filled in.
    """

    index: int
    """Place in the whole program, subgraphs included, counted in reading order."""
    name: str
    """The name the file gives, or the operation and its place in the file: `Add_3`."""
    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, Attribute], ...]
    signature: Signature

    def attribute(self, name: str, default: Attribute = None) -> Attribute:
        """The value written on the node, else `default`."""
        for key, value in self.attributes:
            if key == name:
                return value
        return default

    def blocks(self) -> Iterator[Block]:
        """The node's subgraphs."""
        for _, value in self.attributes:
            if isinstance(value, Block):
                yield value
            elif isinstance(value, tuple):
                yield from (item for item in value if isinstance(item, Block))


@dataclass(frozen=True, slots=True)
class Signature:
    """All that coverage can ask of a node; nodes that agree on it share one signature.

    `types` holds (type variable, dtype) pairs, sorted, without repetition: for each type variable
    that the schema leaves open (more than one dtype allowed), each dtype bound to it by an input
    or output that is present. `attributes` holds (name, value) for every attribute of the schema
    that is not a graph or tensor: as written, else its default, else None (omitted). `ndims`
    holds (input position, ndim or None) for each tensor input that is present.
    `known` is False when a type could not be inferred or the operation has no schema.
    """

    operation: str
    types: tuple[tuple[str, str], ...] = ()
    attributes: tuple[tuple[str, Attribute], ...] = ()
    ndims: tuple[tuple[int, int | None], ...] = ()
    known: bool = True
    key: str = field(init=False, compare=False, repr=False)
    """The whole signature as one text, made once: routing looks it up at each program."""

    def __post_init__(self) -> None:
        parts = (self.operation, self.types, self.attributes, self.ndims, self.known)
        object.__setattr__(self, "key", repr(parts))


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a program needs of a backend: computed once, when it is loaded.

    `signatures` are the distinct ones of all nodes, subgraphs included, in order of first use;
    `first_nodes[i]` is the index of the first node that has `signatures[i]`, and `counts[i]` how
    many have it. `capabilities` are those that the program itself implies: `dynamic_shapes` (an
    input has a symbolic or unknown size), `control_flow` (If, Loop, Scan, SequenceMap),
    `barriers` (rlx::Barrier), `strings`, `sequences`.
    """

    signatures: tuple[Signature, ...] = ()
    first_nodes: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    capabilities: tuple[str, ...] = ()
    keys: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """The key of each signature."""
    undefined: frozenset[str] = field(init=False, compare=False, repr=False)
    """The operations of the signatures that are not known: perhaps a manifest declares them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", tuple(one.key for one in self.signatures))
        unknown = frozenset(one.operation for one in self.signatures if not one.known)
        object.__setattr__(self, "undefined", unknown)


@dataclass(frozen=True, slots=True)
class OperandType:
    """A formal input or output of an operation: its type variable (or fixed type) and option."""

    name: str
    type: str
    option: str = field(default="single")
    """`single`, `optional` or `variadic`."""
