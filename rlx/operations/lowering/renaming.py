"""Renaming values in ONNX graphs, subgraphs included."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import count

import onnx

from rlx.program.structure import free_names

Rename = Callable[[str], str]


def rename_node(node: onnx.NodeProto, rename: Rename) -> None:
    """Rename what a node reads and makes, in place; its graphs too."""
    for names in (node.input, node.output):
        for position, name in enumerate(names):
            if name:
                names[position] = rename(name)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            rename_graph(attribute.g, rename)
        for graph in attribute.graphs:
            rename_graph(graph, rename)


def rename_values(values: Iterable[onnx.ValueInfoProto], rename: Rename) -> None:
    """Rename listed values, in place."""
    for value in values:
        value.name = rename(value.name)


def rename_graph(graph: onnx.GraphProto, rename: Rename) -> None:
    """Rename every value that a graph lists, reads or makes, in place."""
    for values in (graph.input, graph.output, graph.value_info):
        rename_values(values, rename)
    for tensor in graph.initializer:
        tensor.name = rename(tensor.name)
    for node in graph.node:
        rename_node(node, rename)


def with_own_names(node: onnx.NodeProto) -> tuple[onnx.NodeProto, dict[str, str]]:
    """A copy whose graphs have names of rlx's own, and what it calls the names captured.

    A function body that takes the graphs in can then not mistake their names for its own; and
    ONNX writes them out and parses them, so that they must be plain words.
    """
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    captured: dict[str, str] = {}
    number = count()
    for attribute in copy.attribute:
        for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            for name in sorted(free_names(graph)):
                captured.setdefault(name, f"rlx_outer_{len(captured)}")
            own = defaultdict(lambda: f"rlx_inner_{next(number)}", captured)
            graph.name = "rlx_graph"
            rename_graph(graph, own.__getitem__)
    return copy, {alias: name for name, alias in captured.items()}
