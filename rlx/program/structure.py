"""The names and the order of a graph: defined once, before they are read, without cycles."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import onnx

from rlx.errors import ProgramError

OWN = ("", "ai.onnx")
"""How nodes name the domain of ONNX's own operations."""
FIX = "correct the exporter, or edit the graph with onnx.helper."


def subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """The graphs that a node holds, in the order of its attributes' names."""
    held = [a for a in node.attribute if a.HasField("g") or len(a.graphs)]
    for attribute in sorted(held, key=lambda a: a.name) if len(held) > 1 else held:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def all_graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """The graph and every graph within it, outer before inner."""
    yield graph
    for node in graph.node:
        for inner in subgraphs(node):
            yield from all_graphs(inner)


def keep(field: Any, messages: Iterable[Any]) -> None:
    """Make these messages, which may be the field's own, all that a repeated field holds."""
    copies = [type(one).FromString(one.SerializeToString()) for one in messages]
    del field[:]
    field.extend(copies)


def label(node: onnx.NodeProto, index: int | None = None) -> str:
    """How a message names a node: `node 'mm' (MatMul)`."""
    operation = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    if node.name:
        return f"node '{node.name}' ({operation})"
    if index is not None:
        return f"node {index} ({operation})"
    written = next((name for name in node.output if name), "")
    return f"node {operation} that makes '{written}'" if written else f"node {operation}"


def name_nodes(graph: onnx.GraphProto) -> None:
    """Give each node without a name its operation and place: `Add_3`, counted in reading order."""
    taken = {node.name for inner in all_graphs(graph) for node in inner.node}
    for index, node in enumerate(_in_reading_order(graph)):
        if not node.name:
            stem = f"{node.op_type}_{index}"
            suffixes = (f"_{number}" if number else "" for number in count())
            node.name = next(stem + suffix for suffix in suffixes if stem + suffix not in taken)
            taken.add(node.name)


def _in_reading_order(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from _in_reading_order(inner)


def arrange(graph: onnx.GraphProto, outer: frozenset[str] = frozenset()) -> None:
    """Check every name of the graph and of those within it, and put nodes in topological order.

    `outer` are the names that the graphs around this one define. Nodes that stand in order
    already are left as they are.
    """
    defined = _definitions(graph)
    producer: dict[str, int] = {}
    for index, node in enumerate(graph.node):
        for name in node.output:
            if name in defined or name in producer:
                raise ProgramError(
                    f"{label(node, index)} defines '{name}', which is defined already", fix=FIX
                )
            if name:
                producer[name] = index
    known = outer | defined | producer.keys()
    needs: list[set[int]] = []
    for index, node in enumerate(graph.node):
        reads = set(_reads(node))
        for name in reads - known:
            raise _undefined(label(node, index), name, known)
        needs.append({producer[name] for name in reads if name in producer})
    for value in graph.output:
        if value.name not in known:
            raise _undefined(f"the output list of graph '{graph.name}'", value.name, known)
    if any(max(before, default=-1) >= index for index, before in enumerate(needs)):
        _sort(graph, needs)
    for node in graph.node:
        for inner in subgraphs(node):
            arrange(inner, known)


def _definitions(graph: onnx.GraphProto) -> frozenset[str]:
    """The names of inputs and initializers (a name may be both: an input with a default)."""
    inputs = [value.name for value in graph.input]
    constants = [tensor.name for tensor in graph.initializer]
    constants += [sparse.values.name for sparse in graph.sparse_initializer]
    for what, names in (("an input", inputs), ("an initializer", constants)):
        if "" in names:
            raise ProgramError(f"graph '{graph.name}' has {what} without a name", fix=FIX)
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ProgramError(f"graph '{graph.name}' has {what} '{twice}' twice", fix=FIX)
    return frozenset(inputs).union(constants)


def _reads(node: onnx.NodeProto) -> Iterator[str]:
    """The names that a node reads, also from within its subgraphs."""
    yield from (name for name in node.input if name)
    for inner in subgraphs(node):
        yield from free_names(inner)


def free_names(graph: onnx.GraphProto) -> set[str]:
    """The names that a subgraph reads from the graphs around it."""
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    own.update(sparse.values.name for sparse in graph.sparse_initializer)
    own.update(name for node in graph.node for name in node.output)
    reads = {name for node in graph.node for name in _reads(node)}
    reads.update(value.name for value in graph.output if value.name)
    return reads - own


def _undefined(where: str, name: str, known: Iterable[str]) -> ProgramError:
    near = difflib.get_close_matches(name, list(known)[:2000], 1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return ProgramError(f"{where} reads '{name}', which nothing defines{hint}", fix=FIX)


def _sort(graph: onnx.GraphProto, needs: list[set[int]]) -> None:
    """Reorder the nodes so that each follows those it reads from; refuses a cycle by its nodes."""
    waiting = [len(before) for before in needs]
    readers: list[list[int]] = [[] for _ in needs]
    for index, before in enumerate(needs):
        for producer in before:
            readers[producer].append(index)
    ready = deque(index for index, count in enumerate(waiting) if not count)
    order: list[int] = []
    while ready:
        index = ready.popleft()
        order.append(index)
        for reader in readers[index]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    if len(order) < len(needs):
        cycle = _cycle(needs, set(range(len(needs))) - set(order))
        names = " → ".join(label(graph.node[index], index) for index in cycle[:6])
        more = f" → … ({len(cycle)} nodes)" if len(cycle) > 6 else ""
        raise ProgramError(f"graph '{graph.name}' has a cycle: {names}{more}", fix=FIX)
    nodes = [onnx.NodeProto() for _ in order]
    for copy, index in zip(nodes, order, strict=True):
        copy.CopyFrom(graph.node[index])
    del graph.node[:]
    graph.node.extend(nodes)


def _cycle(needs: list[set[int]], left: set[int]) -> list[int]:
    """One cycle among the nodes that could not be ordered, in the order that values flow."""
    index = min(left)
    path: list[int] = []
    while index not in path:
        path.append(index)
        index = min(needs[index] & left)
    found = path[path.index(index) :]
    return found[::-1]
