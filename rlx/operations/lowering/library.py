"""Function bodies and schemas of one vocabulary: ONNX's operations and those manifests add."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

from rlx.operations.lowering import bodies, text
from rlx.operations.lowering.bodies import NoBody
from rlx.operations.vocabulary import Operation, Vocabulary
from rlx.program.schemas import (
    Schema,
    canonical_schema,
    domain_versions,
    newest_schema,
    operation_name,
    split_operation,
)
from rlx.program.signatures import all_nodes
from rlx.program.types import Block, OperandType


class Library:
    """What a vocabulary says of operations, in ONNX's terms; what is made is kept."""

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary
        self.key: object = vocabulary.digest or self
        """What programs keep by what they derive: vocabularies of one content share it."""
        self.templates: dict[object, object] = {}
        """Typed bodies, by all that they depend on: nodes that are alike share one."""
        self._schemas: dict[str, Schema | None] = {}
        self._functions: dict[str, onnx.FunctionProto] = {}

    def schema(self, operation: str) -> Schema | None:
        """The schema of an operation; None where neither ONNX nor a manifest defines it."""
        if operation not in self._schemas:
            found = canonical_schema(operation)
            declared = self.vocabulary.get(operation) if found is None else None
            self._schemas[operation] = found if declared is None else _schema(declared)
        return self._schemas[operation]

    def declared(self, node: onnx.NodeProto) -> Operation | None:
        """The operation, where it is a manifest that declares it."""
        name = operation_name(node.domain, node.op_type)
        return None if canonical_schema(name) is not None else self.vocabulary.get(name)

    def defaults(self, node: onnx.NodeProto) -> Sequence[onnx.AttributeProto]:
        """The attributes of the node's operation that have a default, with it."""
        schema = newest_schema(node.domain, node.op_type)
        if schema is not None:
            return [
                one.default_value for one in schema.attributes.values() if one.default_value.type
            ]
        found = self.declared(node)
        return [
            attribute(one.name, one.type, one.default)
            for one in (found.attributes if found is not None else ())
            if one.default is not None
        ]

    def function(self, operation: Operation) -> onnx.FunctionProto | None:
        """The lowering that a manifest gives; None: it gives none."""
        if operation.lowering is None:
            return None
        if operation.name not in self._functions:
            domains = {name: version for name, version in domain_versions().items() if name}
            declared = (split_operation(one.name)[0] for one in self.vocabulary.operations)
            own = {name: 1 for name in declared if name and name not in domains}
            self._functions[operation.name] = text.parse(operation, {**domains, **own})
        return self._functions[operation.name]

    def body(self, node: onnx.NodeProto, types: Sequence[onnx.TypeProto]) -> onnx.FunctionProto:
        """The function body of a node that states its defaults.

        Raises:
            NoBody: it has none.
        """
        name = operation_name(node.domain, node.op_type)
        if name not in self.vocabulary.lowerable:
            raise NoBody("")
        found = self.declared(node)
        made = None if found is None else self.function(found)
        return bodies.onnx_body(node, types) if made is None else made

    def check_types(self, block: Block) -> None:
        """Refuse a body that mixes dtypes where its operations need one: it is for other types.

        ONNX gives some bodies for every dtype that are right for float32 alone.

        Raises:
            NoBody: a type variable of a node is bound to several dtypes.
        """
        for node in all_nodes(block):
            operation = self.vocabulary.get(node.operation)
            formals = () if operation is None else (*operation.inputs, *operation.outputs)
            mixed = {one.type for one in formals if not one.homogeneous}
            dtypes: dict[str, str] = {}
            for variable, dtype in node.signature.types:
                if variable not in mixed and dtypes.setdefault(variable, dtype) != dtype:
                    raise NoBody(
                        f"its lowering mixes {dtypes[variable]} and {dtype} in {node.operation}"
                    )


def library_of(vocabulary: Vocabulary) -> Library:
    """The library of a vocabulary, made once."""
    kept = vocabulary.__dict__.get("_library")
    if not isinstance(kept, Library):
        kept = vocabulary.__dict__["_library"] = Library(vocabulary)
    return kept


def attribute(name: str, kind: str, value: object) -> onnx.AttributeProto:
    """An attribute of this type, which an empty list or a whole number does not tell."""
    number = onnx.AttributeProto.AttributeType.Value(kind)
    if kind == "FLOATS" and isinstance(value, Sequence):
        value = [float(one) for one in value]
    return helper.make_attribute(name, float(value) if kind == "FLOAT" else value, attr_type=number)  # type: ignore[arg-type]


def _schema(operation: Operation) -> Schema:
    domain, name = split_operation(operation.name)
    allowed = dict(operation.types)
    formals = {one.type for one in (*operation.inputs, *operation.outputs)}
    single = {
        one: allowed.get(one, (one,))[0] for one in formals if len(allowed.get(one, (one,))) == 1
    }
    return Schema(
        domain,
        name,
        operation.since,
        tuple(sorted((one.name, one.type, one.default) for one in operation.attributes)),
        tuple(OperandType(one.name, one.type, one.option) for one in operation.inputs),
        tuple(OperandType(one.name, one.type, one.option) for one in operation.outputs),
        frozenset(one for one in formals if one not in single),
        tuple(sorted(single.items())),
    )


__all__ = ["Library", "attribute", "library_of"]
