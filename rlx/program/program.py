"""`Program`: a tensor program, frozen, at the canonical opset, with what it requires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import onnx

from rlx.errors import ProgramError
from rlx.program.block import Blocks
from rlx.program.digests import content_digest
from rlx.program.reading import LARGEST_FILE
from rlx.program.schemas import canonical_schema
from rlx.program.signatures import Schemas, all_nodes
from rlx.program.stamping import stamp
from rlx.program.tensors import Array, append_tensor, frozen_array
from rlx.program.types import Block, Node, Requirements, Value, ValueType


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program:
    """A tensor program as `rlx.load` returns it: immutable, hashable, picklable.

    Two programs are equal when their `digest` is: the same nodes, names and constants, whatever
    file they came from. Arrays reachable from here are read-only.
    """

    name: str
    path: str | None
    """The file that it was read from, as it was given; None for a program made in memory."""
    digest: str
    """SHA-256 of the content, as hexadecimal."""
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    body: Block
    requirements: Requirements
    node_count: int
    """All nodes, those of subgraphs included."""
    _skeleton: bytes = field(repr=False)
    _written: dict[int | None, bytes] = field(default_factory=dict, repr=False)
    routes: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What `rlx.route` has decided for it: kept here, so that it goes with the program."""
    variants: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What was derived from it: with foreign operations resolved, or lowered; as `routes`."""

    @classmethod
    def from_canonical(
        cls,
        skeleton: bytes,
        constants: Mapping[str, Array],
        name: str,
        path: str | None,
        schemas: Schemas = canonical_schema,
    ) -> Program:
        """A program from a serialised model at the canonical opset that lacks its constants.

        `schemas` finds the schemas that the nodes' signatures are made by.
        """
        model = onnx.ModelProto()
        model.ParseFromString(skeleton)
        blocks = Blocks(schemas)
        body = blocks.block(model.graph, constants)
        imports = {entry.domain: entry.version for entry in model.opset_import}
        return cls(
            name,
            path,
            content_digest(body, imports),
            body.inputs,
            body.outputs,
            body,
            blocks.signatures.requirements(body),
            blocks.count,
            skeleton,
        )

    @property
    def skeleton(self) -> bytes:
        """The serialised ONNX model at the canonical opset, without its constants."""
        return self._skeleton

    def nodes(self) -> Iterator[Node]:
        """All nodes in reading order, those of subgraphs after the node that holds them."""
        return all_nodes(self.body)

    def to_onnx(self, opset: int | None = None) -> onnx.ModelProto:
        """The program as a new ONNX model, weights included.

        Without `opset`, it states the lowest opset (13 or above) whose schemas accept every node
        with the same meaning; otherwise exactly that one. `ProgramError` where a node needs a
        newer one, or where the model is over the 2 GiB that protobuf allows.
        """
        if opset is not None and (not isinstance(opset, int) or isinstance(opset, bool)):
            raise TypeError(f"opset must be a whole number or None, got {opset!r:.60}")
        size = sum(array.nbytes for _, array in self.body.constants) + len(self._skeleton)
        if size > LARGEST_FILE:
            raise ProgramError(
                f"{self.name} takes {size} bytes, over the 2 GiB that an ONNX model "
                "in memory may have",
                fix="choose a backend that takes the program itself, such as numpy.",
            )
        model = onnx.ModelProto()
        if opset not in self._written:
            model.ParseFromString(self._skeleton)
            stamp(model, self.body, opset)
            self._written[opset] = model.SerializeToString()
        else:
            model.ParseFromString(self._written[opset])
        for name, array in self.body.constants:
            append_tensor(model.graph, name, array)
        return model

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Program) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[object, ...]:
        constants = dict(self.body.constants)
        return _restore, (self._skeleton, constants, self.name, self.path)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{value.name}: {show(value.type)}" for value in self.inputs)
        outputs = ", ".join(f"{value.name}: {show(value.type)}" for value in self.outputs)
        nodes = "1 node" if self.node_count == 1 else f"{self.node_count} nodes"
        return f"Program({self.name!r}, {nodes}, {inputs} -> {outputs})"


def _restore(skeleton: bytes, constants: dict[str, Array], name: str, path: str | None) -> Program:
    for array in constants.values():
        frozen_array(array)
    return Program.from_canonical(skeleton, constants, name, path)


def show(found: ValueType) -> str:
    """A type as a message shows it: `float32[1,4]`, `float32[?,n]`, `seq(int64)`."""
    if found.kind != "tensor" or found.shape is None:
        return found.dtype or "unknown"
    sizes = ",".join("?" if size is None else str(size) for size in found.shape)
    return f"{found.dtype or 'unknown'}[{sizes}]"
