"""The pipeline from a model as it was read to one form: checked, inlined, upgraded, typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import inliner

from rlx.errors import ProgramError
from rlx.program import headers
from rlx.program.barriers import check_barriers, check_repeats
from rlx.program.external import ExternalData
from rlx.program.guards import guard
from rlx.program.inference import check, infer, with_types
from rlx.program.reading import one_line
from rlx.program.structure import all_graphs, arrange, keep, name_nodes
from rlx.program.tensors import Array, sparse_array, tensor_array
from rlx.program.texts import check_texts
from rlx.program.types import CANONICAL_OPSET
from rlx.program.upgrading import upgrade, upgrade_function, upgrade_others

SMALL = 4096
"""Bytes; a constant up to this size stays in the graph, where shape inference can read it."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """A model at the canonical opset: the graph without its constants, and the constants.

    `model` states in `value_info` all types that are known; subgraphs keep their constants.
    """

    model: onnx.ModelProto
    constants: dict[str, Array]


def canonicalise(source: onnx.ModelProto, folder: Path | None) -> Canonical:
    """Check a model and bring it to canonical form; the argument is not changed."""
    headers.check_header(source)
    check_texts(source)
    model, constants = _set_aside(source, ExternalData(folder))
    imports = headers.read_imports(model.opset_import, "the model")
    _plain_names(model, imports)
    headers.check_functions(model)
    local = {(function.domain, function.name) for function in model.functions}
    headers.check_operations(model.graph.node, imports, local)
    arrange(model.graph)
    guard(model.graph)
    versions = headers.function_opsets(model, imports)
    if versions:
        model = _at_one_opset(model, imports, versions)
        imports[""] = CANONICAL_OPSET
    name_nodes(model.graph)
    model = with_types(model)
    check(model)
    model = _inline(model)
    guard(model.graph)
    check_barriers(model.graph)
    if "" in imports:
        model = upgrade(model, imports[""])
    upgrade_others(model, imports)
    headers.canonical_imports(model)
    name_nodes(model.graph)
    model = infer(model)
    check_repeats(model.graph)
    for tensor in model.graph.initializer:
        constants.setdefault(tensor.name, tensor_array(tensor, f"initializer '{tensor.name}'"))
    del model.graph.initializer[:]
    inputs = [value for value in model.graph.input if value.name not in constants]
    kept = [onnx.ValueInfoProto.FromString(value.SerializeToString()) for value in inputs]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return Canonical(model, constants)


def _set_aside(
    source: onnx.ModelProto, external: ExternalData
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A copy whose large constants are inputs instead, and every constant of the main graph."""
    model = onnx.ModelProto(ir_version=onnx.IR_VERSION, opset_import=source.opset_import)
    model.functions.extend(source.functions)
    graph = model.graph
    graph.name = source.graph.name or "graph"
    for field in ("node", "input", "output", "value_info"):
        getattr(graph, field).extend(getattr(source.graph, field))
    initializers = [*source.graph.initializer, *_large_constants(graph)]
    constants: dict[str, Array] = {}
    declared = {value.name for value in graph.input}
    for tensor in initializers:
        name = tensor.name
        if name in constants:
            raise ProgramError(f"graph '{graph.name}' has the initializer '{name}' twice")
        constants[name] = external.array(tensor, f"initializer '{name}'")
        if tensor.data_location != onnx.TensorProto.EXTERNAL and constants[name].nbytes <= SMALL:
            graph.initializer.append(tensor)
        elif name not in declared:
            graph.input.append(
                onnx.helper.make_tensor_value_info(name, tensor.data_type, list(tensor.dims))
            )
    for sparse in source.graph.sparse_initializer:
        name = sparse.values.name
        constants[name] = sparse_array(sparse, f"sparse initializer '{name}'")
        if name not in declared:
            graph.input.append(
                onnx.helper.make_tensor_value_info(name, sparse.values.data_type, list(sparse.dims))
            )
    for inner in all_graphs(graph):
        _read_inner(inner, external, main=inner is graph)
    return model, constants


def _large_constants(graph: onnx.GraphProto) -> list[onnx.TensorProto]:
    """Take the main graph's large Constant nodes out, as initializers of the same names."""
    outputs = {value.name for value in graph.output}
    found, kept = [], []
    for node in graph.node:
        tensor = next((a.t for a in node.attribute if a.name == "value"), None)
        large = tensor is not None and (len(tensor.raw_data) > SMALL or tensor.external_data)
        plain = node.op_type == "Constant" and len(node.output) == 1
        if plain and large and node.output[0] not in outputs:
            moved = onnx.TensorProto()
            moved.CopyFrom(tensor)
            moved.name = node.output[0]
            found.append(moved)
        else:
            kept.append(node)
    if found:
        keep(graph.node, kept)
    return found


def _read_inner(graph: onnx.GraphProto, external: ExternalData, *, main: bool) -> None:
    """Check the tensors within nodes and subgraphs; bring those stored elsewhere in."""
    if not main:
        for tensor in graph.initializer:
            _bring_in(tensor, external, f"initializer '{tensor.name}'")
        for sparse in graph.sparse_initializer:
            name = sparse.values.name
            dense = sparse_array(sparse, f"sparse initializer '{name}'")
            graph.initializer.append(onnx.numpy_helper.from_array(dense, name))
        del graph.sparse_initializer[:]
    for node in graph.node:
        for attribute in node.attribute:
            where = f"attribute '{attribute.name}' of {node.op_type} '{node.name}'"
            if attribute.type == onnx.AttributeProto.SPARSE_TENSOR and node.op_type == "Constant":
                dense = sparse_array(attribute.sparse_tensor, where)
                attribute.Clear()
                attribute.CopyFrom(
                    onnx.helper.make_attribute("value", onnx.numpy_helper.from_array(dense))
                )
            for tensor in (*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors):
                _bring_in(tensor, external, where)


def _bring_in(tensor: onnx.TensorProto, external: ExternalData, where: str) -> None:
    array = external.array(tensor, where)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


def _plain_names(model: onnx.ModelProto, imports: dict[str, int]) -> None:
    """Write `ai.onnx` as "" everywhere, and unknown sizes as sizes that are not stated."""
    del model.opset_import[:]
    for domain, version in sorted(imports.items()):
        model.opset_import.add(domain=domain, version=version)
    for function in model.functions:
        function.domain = headers.plain_domain(function.domain)
        for entry in function.opset_import:
            entry.domain = headers.plain_domain(entry.domain)
        for node in function.node:
            node.domain = headers.plain_domain(node.domain)
    for graph in all_graphs(model.graph):
        for node in graph.node:
            node.domain = headers.plain_domain(node.domain)
            node.ClearField("doc_string")
        for value in (*graph.input, *graph.output, *graph.value_info):
            for size in value.type.tensor_type.shape.dim:
                if size.dim_param == "?" or size.dim_value < 0:
                    size.Clear()


def _at_one_opset(
    model: onnx.ModelProto, imports: dict[str, int], versions: dict[int, int]
) -> onnx.ModelProto:
    """Bring a model and local functions of other opsets to the canonical one, before inlining."""
    if "" in imports:
        model = upgrade(model, imports[""])
    else:
        model.opset_import.add(domain="", version=CANONICAL_OPSET)
    for index, opset in versions.items():
        upgrade_function(model.functions[index], opset)
    return model


def _inline(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its local functions inlined."""
    if not model.functions:
        return model
    try:
        return inliner.inline_local_functions(model)
    except Exception as error:
        raise ProgramError(
            f"its local functions cannot be inlined: {one_line(str(error))}",
            fix="export the model without local functions.",
        ) from error
