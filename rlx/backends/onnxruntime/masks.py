"""Attention's mask with a row for each query: onnxruntime's kernel does not broadcast that axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.program.structure import OWN, keep

if TYPE_CHECKING:
    import onnx

    from rlx.program import Program, ValueType

MASK = 3


def widen(model: onnx.ModelProto, program: Program) -> None:
    """Expand each mask that has one row for all queries, or may have when it runs.

    Where shapes tell that it has a row for each query, or that there is one query, nothing changes.
    Nodes of subgraphs are left alone.
    """
    if not any(node.op_type == "Attention" for node in model.graph.node):
        return
    body = program.body
    types = {value.name: value.type for value in body.inputs} | dict(body.types)
    nodes: list[onnx.NodeProto] = []
    for node in model.graph.node:
        attention = node.op_type == "Attention" and node.domain in OWN
        if attention and len(node.input) > MASK and node.input[MASK]:
            axis = _rows(types.get(node.input[0]), types.get(node.input[MASK]))
            if axis is not None:
                nodes += _expansion(node, axis, len(nodes))
        nodes.append(node)
    if len(nodes) > len(model.graph.node):
        keep(model.graph.node, nodes)


def _rows(queries: ValueType | None, mask: ValueType | None) -> int | None:
    """The axis of the queries that the mask is to be expanded to; None where it fits."""
    if queries is None or not queries.shape or mask is None or not mask.shape:
        return None
    axis = len(queries.shape) - 2
    wanted, got = queries.shape[axis], (1, *mask.shape)[-2]
    if wanted == 1 or (got == wanted and got is not None) or (isinstance(got, int) and got != 1):
        return None
    return axis


def _expansion(node: onnx.NodeProto, axis: int, at: int) -> list[onnx.NodeProto]:
    """The nodes that expand the mask; the attention reads what they give."""
    from onnx import helper

    name = f"{node.name or at}@mask"
    mask, rows, one, shape = node.input[MASK], f"{name}_rows", f"{name}_one", f"{name}_shape"
    node.input[MASK] = name
    return [
        helper.make_node("Shape", [node.input[0]], [rows], rows, start=axis, end=axis + 1),
        helper.make_node("Constant", [], [one], one, value_ints=[1]),
        helper.make_node("Concat", [rows, one], [shape], shape, axis=0),
        helper.make_node("Expand", [mask, shape], [name], name),
    ]
