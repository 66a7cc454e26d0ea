"""Every text in a model must be UTF-8: protobuf hands out what is not as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx

from rlx.errors import ProgramError


def check_texts(model: onnx.ModelProto) -> None:
    """Refuse a model in which a name, a domain or another text is not UTF-8."""
    for text in _model(model):
        if not isinstance(text, str):
            raise ProgramError(
                f"not valid: the text {str(text)[:80]} is not UTF-8",
                fix="the file is damaged, or its exporter is wrong: export it again.",
            )


def _model(model: onnx.ModelProto) -> Iterator[object]:
    yield from _imports(model.opset_import)
    yield from _graph(model.graph)
    for function in model.functions:
        yield from (function.name, function.domain, function.overload)
        yield from (*function.input, *function.output, *function.attribute)
        yield from _imports(function.opset_import)
        yield from _values(function.value_info)
        yield from _nodes(function.node)
        yield from _attributes(function.attribute_proto)


def _imports(imports: Iterable[onnx.OperatorSetIdProto]) -> Iterator[object]:
    return (entry.domain for entry in imports)


def _graph(graph: onnx.GraphProto) -> Iterator[object]:
    yield graph.name
    yield from _nodes(graph.node)
    yield from _values((*graph.input, *graph.output, *graph.value_info))
    for tensor in graph.initializer:
        yield from _tensor(tensor)
    for sparse in graph.sparse_initializer:
        yield from _tensor(sparse.values)
        yield from _tensor(sparse.indices)


def _nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[object]:
    for node in nodes:
        yield from (node.name, node.op_type, node.domain, node.overload)
        yield from node.input
        yield from node.output
        yield from _attributes(node.attribute)


def _attributes(attributes: Iterable[onnx.AttributeProto]) -> Iterator[object]:
    for attribute in attributes:
        yield from (attribute.name, attribute.ref_attr_name)
        if attribute.HasField("g"):
            yield from _graph(attribute.g)
        for graph in attribute.graphs:
            yield from _graph(graph)
        if attribute.HasField("t"):
            yield from _tensor(attribute.t)
        for tensor in attribute.tensors:
            yield from _tensor(tensor)
        if attribute.HasField("sparse_tensor"):
            yield from _tensor(attribute.sparse_tensor.values)
        if attribute.HasField("tp"):
            yield from _type(attribute.tp)


def _tensor(tensor: onnx.TensorProto) -> Iterator[object]:
    yield tensor.name
    for entry in tensor.external_data:
        yield from (entry.key, entry.value)


def _values(values: Iterable[onnx.ValueInfoProto]) -> Iterator[object]:
    for value in values:
        yield value.name
        yield from _type(value.type)


def _type(proto: onnx.TypeProto) -> Iterator[object]:
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        yield from (size.dim_param for size in proto.tensor_type.shape.dim)
    elif kind == "sparse_tensor_type":
        yield from (size.dim_param for size in proto.sparse_tensor_type.shape.dim)
    elif kind == "sequence_type":
        yield from _type(proto.sequence_type.elem_type)
    elif kind == "optional_type":
        yield from _type(proto.optional_type.elem_type)
    elif kind == "map_type":
        yield from _type(proto.map_type.value_type)
