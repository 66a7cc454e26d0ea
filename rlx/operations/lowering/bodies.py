"""One node's function body, with the node's attributes and operands put in: nodes and no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx

from rlx.program.schemas import newest_schema, operation_name
from rlx.program.structure import subgraphs
from rlx.program.types import CANONICAL_OPSET


class NoBody(Exception):
    """This node has no function body; the text says why, and "" that its operation has none."""


def onnx_body(node: onnx.NodeProto, types: Sequence[onnx.TypeProto]) -> onnx.FunctionProto:
    """ONNX's function body for a node that states all attributes, by the types of its inputs.

    The one of the highest opset up to the canonical one; the function's import of `ai.onnx` says
    which. An absent optional input has an empty type.

    Raises:
        NoBody: there is none for the operation, or for these types.
    """
    schema = newest_schema(node.domain, node.op_type)
    if schema is None:
        raise NoBody("")
    newest = CANONICAL_OPSET if not node.domain else schema.since_version
    data, given = node.SerializeToString(), [one.SerializeToString() for one in types]
    plain = sorted((v for v in schema.function_opset_versions if v <= newest), reverse=True)
    for version in plain:
        found = schema.get_function_with_opset_version(version)
        if found is not None:
            return _function(onnx.FunctionProto.FromString(_data(found)), version, node.domain)
    dependent = sorted(schema.context_dependent_function_opset_versions, reverse=True)
    for version in dependent:
        if version > newest:
            continue
        try:
            made = schema.get_context_dependent_function_with_opset_version(version, data, given)
        except (RuntimeError, ValueError):  # ONNX's builders assert what they rely on
            continue
        if made:
            return _function(onnx.FunctionProto.FromString(made), version, node.domain)
    if plain or dependent:
        raise NoBody("ONNX gives no function body for these types and attributes")
    raise NoBody("")


def _data(function: onnx.FunctionProto | bytes) -> bytes:
    return function if isinstance(function, bytes) else function.SerializeToString()


def _function(function: onnx.FunctionProto, version: int, domain: str) -> onnx.FunctionProto:
    """The function, which says what version of `ai.onnx` its nodes are of."""
    if not any(entry.domain == "" for entry in function.opset_import):
        opset = CANONICAL_OPSET if domain else version
        function.opset_import.add(domain="", version=opset)
    return function


def with_defaults(node: onnx.NodeProto, defaults: Iterable[onnx.AttributeProto]) -> onnx.NodeProto:
    """A copy that states every attribute that has a default, without a name of its own."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.ClearField("name")
    written = {attribute.name for attribute in node.attribute}
    copy.attribute.extend(one for one in defaults if one.name not in written)
    return copy


def instantiate(function: onnx.FunctionProto, node: onnx.NodeProto) -> onnx.GraphProto:
    """The body's nodes for this node, under the function's names; inputs and outputs untyped.

    References to attributes become the node's values, or vanish where it has none. An operand that
    the node leaves out is left out by the body's nodes too, and what only an output that the node
    leaves out needs is not there.

    Raises:
        NoBody: a node of the body can't do without an operand that is left out.
    """
    given = {attribute.name: attribute for attribute in node.attribute}
    absent = {
        formal
        for position, formal in enumerate(function.input)
        if position >= len(node.input) or not node.input[position]
    }
    graph = onnx.GraphProto(name=function.name or node.op_type)
    wanted = [formal for formal, name in zip(function.output, node.output, strict=False) if name]
    graph.input.extend(
        onnx.ValueInfoProto(name=name) for name in function.input if name not in absent
    )
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    for one in _needed(function.node, wanted):
        copy = graph.node.add()
        copy.CopyFrom(one)
        _fill(copy, given, absent)
    made = {name for one in graph.node for name in one.output}
    for name in wanted:
        if name not in made:
            raise NoBody(f"its lowering does not make its output {name}")
    return graph


def _needed(nodes: Sequence[onnx.NodeProto], wanted: Iterable[str]) -> list[onnx.NodeProto]:
    """The nodes that the wanted values need, in order."""
    needed, kept = set(wanted), []
    for node in reversed(nodes):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(_reads(node))
    return kept[::-1]


def _reads(node: onnx.NodeProto) -> Iterable[str]:
    yield from node.input
    for graph in subgraphs(node):
        for inner in graph.node:
            yield from _reads(inner)
        yield from (value.name for value in graph.output)


def _fill(node: onnx.NodeProto, given: Mapping[str, onnx.AttributeProto], absent: set[str]) -> None:
    """Put attributes and absent operands into one node of a body, and into its graphs."""
    for position, name in enumerate(node.input):
        if name in absent:
            node.input[position] = ""
            _check_optional(node, position, name)
    while node.input and not node.input[-1]:
        del node.input[-1]
    for position in reversed(range(len(node.attribute))):
        attribute = node.attribute[position]
        if not attribute.ref_attr_name:
            continue
        name, value = attribute.name, given.get(attribute.ref_attr_name)
        if value is None:
            del node.attribute[position]
        else:
            attribute.CopyFrom(value)
            attribute.name = name
    for graph in subgraphs(node):
        for inner in graph.node:
            _fill(inner, given, absent)


def _check_optional(node: onnx.NodeProto, position: int, formal: str) -> None:
    schema = newest_schema(node.domain, node.op_type)
    if schema is None or not schema.inputs:
        return
    operand = schema.inputs[min(position, len(schema.inputs) - 1)]
    if operand.option.name != "Optional":
        name = operation_name(node.domain, node.op_type)
        raise NoBody(f"its lowering passes the input {formal}, which is left out, to {name}")
