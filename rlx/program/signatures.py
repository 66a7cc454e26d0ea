"""What coverage can ask of a node, and what a whole program requires of a backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from rlx.program.schemas import GRAPH_KINDS, TENSOR_KINDS, Schema, canonical_schema
from rlx.program.types import (
    BARRIER,
    Attribute,
    Block,
    Node,
    Requirements,
    Signature,
    Value,
    ValueType,
)

Operands = tuple[ValueType | None, ...]
Schemas: TypeAlias = Callable[[str], Schema | None]
"""Finds the schema of an operation: of ONNX alone, or of what manifests declare too."""

CONTROL_FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})


class Signatures:
    """The distinct signatures of one program, in order of first use."""

    def __init__(self, schemas: Schemas = canonical_schema) -> None:
        self._schemas = schemas
        self._seen: dict[Signature, Signature] = {}
        self._first: dict[Signature, int] = {}
        self._count: dict[Signature, int] = {}

    def of(
        self,
        index: int,
        operation: str,
        attributes: tuple[tuple[str, Attribute], ...],
        inputs: Operands,
        outputs: Operands,
    ) -> Signature:
        """The signature of a node, shared with every node that has the same one."""
        made = _signature(self._schemas(operation), operation, attributes, inputs, outputs)
        signature = self._seen.setdefault(made, made)
        first = self._first.setdefault(signature, index)
        self._first[signature] = min(first, index)
        self._count[signature] = self._count.get(signature, 0) + 1
        return signature

    def requirements(self, body: Block) -> Requirements:
        """What the program needs, now that all of its nodes have been seen."""
        ordered = sorted(self._first, key=self._first.__getitem__)
        return Requirements(
            tuple(ordered),
            tuple(self._first[signature] for signature in ordered),
            tuple(self._count[signature] for signature in ordered),
            tuple(sorted(capabilities_of(body))),
        )


def _signature(
    schema: Schema | None,
    operation: str,
    attributes: tuple[tuple[str, Attribute], ...],
    inputs: Operands,
    outputs: Operands,
) -> Signature:
    ndims = tuple(
        (position, found.ndim)
        for position, found in enumerate(inputs)
        if found is not None and found.kind == "tensor"
    )
    if schema is None:
        return Signature(operation, (), _plain_attributes(attributes), ndims, known=False)
    written = dict(attributes)
    values = tuple(
        (name, written.get(name, default))
        for name, kind, default in schema.attributes
        if kind not in GRAPH_KINDS and kind not in TENSOR_KINDS
    )
    bound = set(_bindings(schema, inputs, outputs))
    known = all(dtype for _, dtype in bound)
    types = tuple(sorted((variable, dtype) for variable, dtype in bound if dtype))
    return Signature(operation, types, values, ndims, known)


def _bindings(schema: Schema, inputs: Operands, outputs: Operands) -> Iterator[tuple[str, str]]:
    """(type variable, dtype) of each operand; "" where it is not known, nor implied by another."""
    found = []
    for operands, formal_of in ((inputs, schema.input), (outputs, schema.output)):
        for position, operand in enumerate(operands):
            formal = formal_of(position)
            if operand is not None and formal is not None and formal.type in schema.variables:
                found.append((formal, operand.dtype))
    single = {formal.type for formal, dtype in found if dtype and formal.option != "variadic"}
    for formal, dtype in found:
        if dtype or formal.option == "variadic" or formal.type not in single:
            yield formal.type, dtype


def _plain_attributes(
    attributes: tuple[tuple[str, Attribute], ...],
) -> tuple[tuple[str, Attribute], ...]:
    """The attributes of an unknown operation that are neither graphs nor tensors."""
    return tuple((name, value) for name, value in attributes if _is_plain(value))


def _is_plain(value: Attribute) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, int | float | str | bytes | ValueType)


def all_nodes(block: Block) -> Iterator[Node]:
    """The nodes of a block and of the blocks within, in reading order: a node before its own."""
    for node in block.nodes:
        yield node
        for inner in node.blocks():
            yield from all_nodes(inner)


def capabilities_of(body: Block) -> Iterator[str]:
    """The capabilities that a program of this body needs."""
    if any(_is_dynamic(value) for value in body.inputs):
        yield "dynamic_shapes"
    operations = {node.operation for node in all_nodes(body)}
    if operations & CONTROL_FLOW:
        yield "control_flow"
    if BARRIER in operations:
        yield "barriers"
    found = set(_value_types(body))
    if any("string" in each.dtype for each in found):
        yield "strings"
    if any(each.kind in ("sequence", "optional", "map") for each in found):
        yield "sequences"


def _is_dynamic(value: Value) -> bool:
    shape = value.type.shape
    return value.type.kind == "tensor" and (
        shape is None or any(not isinstance(size, int) for size in shape)
    )


def _value_types(block: Block) -> Iterable[ValueType]:
    yield from (found for _, found in block.types)
    for node in block.nodes:
        for inner in node.blocks():
            yield from _value_types(inner)
