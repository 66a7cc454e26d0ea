"""Slices that go backwards: onnxruntime takes the largest integers as an end for "to the start".

ONNX clamps every end to the axis, so that a slice backwards from 2 to 2^63 - 1 is empty;
onnxruntime gives the whole way to the start for 2^63 - 1 and 2^31 - 1, and is right for the
numbers beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.program.structure import OWN, all_graphs, keep, subgraphs

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx

ENDS, STEPS = 2, 4
SENTINELS = (2**63 - 1, 2**31 - 1)


def bound(model: onnx.ModelProto) -> None:
    """Take one from such an end wherever a step may be negative, in subgraphs too."""
    if any(node.op_type == "Slice" for one in all_graphs(model.graph) for node in one.node):
        _bound(model.graph, {})


def _bound(graph: onnx.GraphProto, outer: Mapping[str, Any]) -> None:
    """`outer` are the constants that this graph sees."""
    known = {**outer, **_constants(graph)}
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        for body in subgraphs(node):
            _bound(body, known)
        if node.op_type == "Slice" and node.domain in OWN and _backwards(node, known):
            nodes += _ended(graph, node, known, len(nodes))
        nodes.append(node)
    if len(nodes) > len(graph.node):
        keep(graph.node, nodes)


def _constants(graph: onnx.GraphProto) -> dict[str, Any]:
    """The small constants by name, as arrays."""
    from onnx import numpy_helper

    tensors = [(one.name, one) for one in graph.initializer]
    tensors += [
        (node.output[0], attribute.t)
        for node in graph.node
        if node.op_type == "Constant" and node.domain in OWN
        for attribute in node.attribute
        if attribute.name == "value"
    ]
    given = {one.name for one in graph.input}
    return {
        name: numpy_helper.to_array(one)
        for name, one in tensors
        if name not in given and len(one.dims) <= 1 and one.data_type in (6, 7)
    }


def _backwards(node: onnx.NodeProto, known: Mapping[str, Any]) -> bool:
    """Whether a step may be negative."""
    if len(node.input) <= STEPS or not node.input[STEPS]:
        return False
    steps = known.get(node.input[STEPS])
    return steps is None or bool((steps < 0).any())


def _ended(
    graph: onnx.GraphProto, node: onnx.NodeProto, known: Mapping[str, Any], at: int
) -> list[onnx.NodeProto]:
    """The nodes that make its end another; none where it is constant."""
    import numpy as np
    from onnx import helper, numpy_helper

    name = f"{node.name or at}@end"
    ends = known.get(node.input[ENDS])
    if ends is not None:
        reached = [value for value in SENTINELS if (ends == value).any()]
        if reached:
            bounded = np.where(np.isin(ends, SENTINELS), ends - 1, ends).astype(ends.dtype)
            graph.initializer.append(numpy_helper.from_array(bounded, name))
            node.input[ENDS] = name
        return []
    made: list[onnx.NodeProto] = []
    current = node.input[ENDS]
    wide = f"{name}_wide"
    made.append(helper.make_node("Cast", [current], [wide], wide, to=7))
    current = wide
    for value in SENTINELS:
        label = f"{name}_{value}"
        for suffix, number in (("", value), ("_less", value - 1)):
            constant = np.array(number, np.int64)
            graph.initializer.append(numpy_helper.from_array(constant, f"{label}{suffix}"))
        made.append(helper.make_node("Equal", [current, label], [f"{label}_is"], f"{label}_is"))
        chosen = [f"{label}_is", f"{label}_less", current]
        made.append(helper.make_node("Where", chosen, [f"{label}_end"], f"{label}_end"))
        current = f"{label}_end"
    return [*made, *_as_wide(node, current, name)]


def _as_wide(node: onnx.NodeProto, ends: str, name: str) -> list[onnx.NodeProto]:
    """Starts, axes and steps are of the same dtype as the ends."""
    from onnx import helper

    made = []
    node.input[ENDS] = ends
    for place in (1, 3, 4):
        if len(node.input) > place and node.input[place]:
            wide = f"{name}_{place}"
            made.append(helper.make_node("Cast", [node.input[place]], [wide], wide, to=7))
            node.input[place] = wide
    return made
