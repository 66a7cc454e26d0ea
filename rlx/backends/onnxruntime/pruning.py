"""A model without what its outputs do not need, unread inputs included.

OpenVINO's provider takes the inputs of its part of a graph by their places in the whole graph: one
that nothing reads shifts the others, and each reads another's memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.program.structure import keep, subgraphs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import onnx


def prune(model: onnx.ModelProto) -> None:
    """Take out the nodes that no output needs, then the constants and inputs that nothing reads."""
    graph = model.graph
    needed = {value.name for value in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            needed.update(_reads([node]))
            kept.append(node)
    if len(kept) < len(graph.node):
        keep(graph.node, list(reversed(kept)))
    for field in (graph.input, graph.initializer):
        read = [one for one in field if one.name in needed]
        if len(read) < len(field):
            keep(field, read)


def _reads(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    """What nodes read, in their subgraphs too; names of the subgraphs' own are among them."""
    for node in nodes:
        yield from node.input
        for graph in subgraphs(node):
            yield from _reads(graph.node)
            yield from (value.name for value in graph.output)
