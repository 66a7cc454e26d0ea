"""From ONNX's graph to frozen blocks, nodes and signatures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from rlx.errors import ProgramError
from rlx.program.schemas import (
    DTYPE_NAMES,
    Schema,
    canonical_schema,
    operation_name,
    plain,
    value_type,
)
from rlx.program.signatures import Schemas, Signatures
from rlx.program.tensors import Array, tensor_array
from rlx.program.types import Attribute, Block, Node, Value, ValueType

_UNTYPED = ValueType("")


class Blocks:
    """Builds the blocks of one program; numbers its nodes in reading order."""

    def __init__(self, schemas: Schemas = canonical_schema) -> None:
        self.count = 0
        self.signatures = Signatures(schemas)
        self._schemas = schemas

    def block(
        self,
        graph: onnx.GraphProto,
        constants: Mapping[str, Array] | None = None,
        outer: Mapping[str, ValueType] | None = None,
    ) -> Block:
        """A graph as a block; `constants` are the main graph's, `outer` the types around it."""
        held = dict(constants or {})
        for tensor in graph.initializer:
            held[tensor.name] = tensor_array(tensor, f"initializer '{tensor.name}'")
        stated = {
            value.name: value_type(value.type)
            for value in (*graph.value_info, *graph.output, *graph.input)
        }
        own = {name: ValueType(dtype_name(array), array.shape) for name, array in held.items()}
        own.update({value.name: stated[value.name] for value in graph.input})
        scope = {**(outer or {}), **own}
        nodes = []
        for proto in graph.node:
            nodes.append(node := self.node(proto, scope, stated))
            made = {name: scope[name] for name in node.outputs if name}
            own.update(made)
        return Block(
            graph.name,
            tuple(Value(value.name, own[value.name]) for value in graph.input),
            tuple(Value(v.name, scope.get(v.name, stated[v.name])) for v in graph.output),
            tuple(nodes),
            tuple(sorted(held.items())),
            tuple(own.items()),
        )

    def node(
        self, proto: onnx.NodeProto, scope: dict[str, ValueType], stated: Mapping[str, ValueType]
    ) -> Node:
        """A node as a record; the types of its outputs are added to `scope`."""
        index = self.count
        self.count += 1
        operation = operation_name(proto.domain, proto.op_type)
        attributes = tuple(
            (attribute.name, self.attribute(attribute, operation, scope))
            for attribute in sorted(proto.attribute, key=lambda attribute: attribute.name)
        )
        inputs = tuple(scope.get(name, _UNTYPED) if name else None for name in proto.input)
        outputs = [stated.get(name, _UNTYPED) if name else None for name in proto.output]
        _fill(self._schemas(operation), inputs, outputs, attributes)
        scope.update(
            (name, found) for name, found in zip(proto.output, outputs, strict=True) if found
        )
        return Node(
            index,
            proto.name,
            operation,
            tuple(proto.input),
            tuple(proto.output),
            attributes,
            self.signatures.of(index, operation, attributes, inputs, tuple(outputs)),
        )

    def attribute(
        self, proto: onnx.AttributeProto, operation: str, scope: Mapping[str, ValueType]
    ) -> Attribute:
        """An attribute's value in plain Python, NumPy arrays and blocks."""
        kind = onnx.AttributeProto.AttributeType.Name(proto.type)
        where = f"attribute '{proto.name}' of {operation}"
        if kind == "GRAPH":
            return self.block(proto.g, outer=scope)
        if kind == "GRAPHS":
            return tuple(self.block(graph, outer=scope) for graph in proto.graphs)
        if kind == "TENSOR":
            return tensor_array(proto.t, where)
        if kind == "TENSORS":
            return tuple(tensor_array(tensor, where) for tensor in proto.tensors)
        if kind == "TYPE_PROTO":
            return value_type(proto.tp)
        if kind == "TYPE_PROTOS":
            return tuple(value_type(item) for item in proto.type_protos)
        if kind not in ("FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS"):
            raise ProgramError(f"{where} is of the kind {kind}, which rlx does not read")
        return plain(onnx.helper.get_attribute_value(proto))


def _fill(
    schema: Schema | None,
    inputs: tuple[ValueType | None, ...],
    outputs: list[ValueType | None],
    attributes: tuple[tuple[str, Attribute], ...],
) -> None:
    """Give untyped outputs the dtype that the schema implies: fixed, an input's, or an attribute's.

    ONNX infers nothing below a node that it cannot infer, such as one of a foreign domain.
    """
    if schema is None or all(found is None or found.dtype for found in outputs):
        return
    bound = dict(schema.fixed)
    for position, found in enumerate(inputs):
        formal = schema.input(position)
        if formal is not None and found is not None and found.dtype and found.kind == "tensor":
            bound.setdefault(formal.type, found.dtype)
    named = {name: value for name, value in attributes if name in ("to", "dtype", "output_dtype")}
    stated = next((DTYPE_NAMES.get(number, "") for number in named.values() if number), "")
    for position, found in enumerate(outputs):
        formal = schema.output(position)
        if formal is not None and found is not None and not found.dtype:
            dtype = bound.get(formal.type, stated)
            if formal.option != "variadic" and dtype and "(" not in dtype:
                outputs[position] = ValueType(dtype, found.shape)


def dtype_name(array: Array) -> str:
    """The ONNX name of an array's dtype."""
    if array.dtype == object or array.dtype.kind in "US":
        return "string"
    names = {"float8_e4m3fn": "float8e4m3fn", "float8_e4m3fnuz": "float8e4m3fnuz"}
    names |= {"float8_e5m2": "float8e5m2", "float8_e5m2fnuz": "float8e5m2fnuz"}
    names |= {"float8_e8m0fnu": "float8e8m0", "float4_e2m1fn": "float4e2m1"}
    names |= {"float6_e2m3fn": "float6e2m3", "float6_e3m2fn": "float6e3m2"}
    return names.get(np.dtype(array.dtype).name, np.dtype(array.dtype).name)
