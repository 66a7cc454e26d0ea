"""Bringing a program to the canonical opset, node by node, subgraphs included.

ONNX's own version converter is not used: it needs static shapes, drops local functions, and
changes what some operations mean (Hardmax, GroupNormalization, Resize, Scan, Clip of float64,
broadcasting at an axis). The tests hold these rewrites against it and against ONNX's suite.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import onnx

from rlx.errors import ProgramError
from rlx.program.inference import infer_leniently
from rlx.program.structure import all_graphs, keep, label, subgraphs
from rlx.program.types import CANONICAL_OPSET
from rlx.program.upgrades import REWRITES
from rlx.program.upgrades.editing import Edit, Names, Rewrite
from rlx.program.upgrades.meaning import label_encoder

ML = "ai.onnx.ml"

_STEPS: dict[str, list[tuple[int, tuple[Rewrite, ...]]]] = defaultdict(list)
for (_operation, _version), _rewrites in sorted(REWRITES.items(), key=lambda item: item[0]):
    _STEPS[_operation].append((_version, _rewrites))


def upgrade(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """The model with every `ai.onnx` node at the canonical opset; the argument may be changed.

    A node that means something there that the canonical opset cannot say is a `ProgramError`.
    """
    nodes = [node for graph in all_graphs(model.graph) for node in graph.node]
    if needs_rewriting(nodes, opset):
        model = infer_leniently(model)
        _upgrade_graph(model.graph, opset, Names(model.graph), None)
    set_opset(model, CANONICAL_OPSET)
    return model


def upgrade_others(model: onnx.ModelProto, imports: Mapping[str, int]) -> None:
    """Rewrite the nodes of ONNX's other domains that changed since the versions imported."""
    older = {domain for domain, version in imports.items() if domain == ML and version < 2}
    nodes = [node for graph in all_graphs(model.graph) for node in graph.node]
    if older and any(node.domain == ML and node.op_type == "LabelEncoder" for node in nodes):
        _label_encoders(model.graph, Names(model.graph), None)


def _label_encoders(graph: onnx.GraphProto, names: Names, outer: Edit | None) -> None:
    edit = Edit(graph, names, outer)
    for node in graph.node:
        if node.domain == ML and node.op_type == "LabelEncoder":
            label_encoder(node, edit)
        for inner in subgraphs(node):
            _label_encoders(inner, names, edit)


def upgrade_function(function: onnx.FunctionProto, opset: int) -> None:
    """Bring a local function's body to the canonical opset, in place."""
    for index, node in enumerate(function.node):
        references = any(attribute.ref_attr_name for attribute in node.attribute)
        if references and needs_rewriting([node], opset):
            raise ProgramError(
                f"the local function '{function.name}' is of opset {opset} and passes its "
                f"attributes to {label(node, index)}, which changed since",
                fix="export the model with one opset throughout.",
            )
    graph = onnx.GraphProto(name=function.name, node=function.node)
    graph.input.extend(onnx.ValueInfoProto(name=name) for name in function.input)
    _upgrade_graph(graph, opset, Names(graph), None)
    del function.node[:]
    for tensor in graph.initializer:
        function.node.append(onnx.helper.make_node("Constant", [], [tensor.name], value=tensor))
    function.node.extend(graph.node)
    set_opset(function, CANONICAL_OPSET)


def set_opset(model: onnx.ModelProto | onnx.FunctionProto, version: int) -> None:
    """State the version of `ai.onnx` that the model imports, if it imports any."""
    for entry in model.opset_import:
        if not entry.domain:
            entry.version = version


def needs_rewriting(nodes: Iterable[onnx.NodeProto], opset: int) -> bool:
    """Whether any of the nodes changed after `opset`."""
    return any(
        version > opset
        for node in nodes
        if not node.domain
        for version, _ in _STEPS.get(node.op_type, ())
    )


def _upgrade_graph(graph: onnx.GraphProto, opset: int, names: Names, outer: Edit | None) -> None:
    edit = Edit(graph, names, outer)
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        for inner in subgraphs(node):
            _upgrade_graph(inner, opset, names, edit)
        if not node.domain:
            _upgrade_node(node, opset, edit)
        nodes += [*edit.before, node, *edit.after]
        edit.before.clear()
        edit.after.clear()
    if len(nodes) != len(graph.node):
        keep(graph.node, nodes)


def _upgrade_node(node: onnx.NodeProto, opset: int, edit: Edit) -> None:
    """Apply the rewrites above `opset` in order; one may turn the node into another operation."""
    reached = opset
    while reached < CANONICAL_OPSET:
        steps = _STEPS.get(node.op_type, ())
        step = next((step for step in steps if step[0] > reached), None)
        if step is None:
            return
        reached = step[0]
        for rewrite in step[1]:
            try:
                rewrite(node, edit)
            except ProgramError:
                raise
            except (IndexError, ValueError, TypeError, KeyError, AttributeError) as error:
                raise ProgramError(
                    f"{label(node)} is not what opset {opset} defines: {error}"
                ) from error
