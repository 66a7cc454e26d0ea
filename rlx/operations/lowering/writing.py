"""The program as a plan says: each lowered node replaced by its body, all the way down."""

from __future__ import annotations

from itertools import count

import onnx

from rlx.operations.lowering.planning import Plan
from rlx.operations.lowering.renaming import Rename, rename_values, with_own_names
from rlx.operations.lowering.unit import Entry, Unit, unit_of
from rlx.program.headers import canonical_imports
from rlx.program.program import Program
from rlx.program.stages import SCHEMAS
from rlx.program.structure import all_graphs, subgraphs


def lowered(program: Program, plan: Plan) -> Program:
    """The program that a backend is handed: same inputs, outputs and order; made once per plan.

    The program itself where the plan lowers nothing.
    """
    if not plan.lowered:
        return program
    unit = plan.unit
    assert unit is not None
    assert not plan.missing, "a plan with missing nodes can't be executed"
    key = ("lowered", unit.library.key, plan.key)
    kept = program.variants.get(key)
    if isinstance(kept, Program):
        return kept
    model = onnx.ModelProto()
    model.ParseFromString(program.skeleton)
    graph = model.graph
    writing = _Writing(unit_of(program, unit.library), plan, lambda name: name, "", _mark(graph))
    nodes, values = writing.block(graph)
    del graph.node[:]
    graph.node.extend(nodes)
    graph.value_info.extend(values)
    canonical_imports(model)
    constants = dict(program.body.constants)
    skeleton = model.SerializeToString(deterministic=True)
    made = Program.from_canonical(
        skeleton, constants, program.name, program.path, unit.library.schema
    )
    made.variants[SCHEMAS] = unit.library.schema
    program.variants[key] = made
    return made


def _mark(graph: onnx.GraphProto) -> str:
    """A sign that no name of the program has: names with it in them are new."""
    names: set[str] = set()
    for inner in all_graphs(graph):
        names.update(value.name for value in (*inner.input, *inner.output))
        names.update(tensor.name for tensor in inner.initializer)
        for node in inner.node:
            names.update((node.name, *node.input, *node.output))
    signs = ("/" * number for number in count(1))
    return next(sign for sign in signs if not any(sign in name for name in names))


class _Writing:
    """Writes one unit: its nodes in reading order, under the names of where they are put."""

    def __init__(self, unit: Unit, plan: Plan, rename: Rename, prefix: str, mark: str):
        self._entries = list(enumerate(unit.entries))
        self._next = 0
        self._unit, self._plan, self._rename = unit, plan, rename
        self._prefix, self._mark = prefix, mark

    def block(
        self, graph: onnx.GraphProto
    ) -> tuple[list[onnx.NodeProto], list[onnx.ValueInfoProto]]:
        """The nodes of a graph of the unit, and the types of the values that bodies make there."""
        nodes: list[onnx.NodeProto] = []
        values: list[onnx.ValueInfoProto] = []
        for _ in graph.node:
            index, entry = self._entries[self._next]
            inner = self._plan.lowered.get(index)
            if inner is None:
                self._next += 1
                nodes.append(self._kept(entry))
                continue
            self._next = entry.end
            more, typed = self._body(index, entry, inner)
            nodes += more
            values += typed
        return nodes, values

    def _kept(self, entry: Entry) -> onnx.NodeProto:
        node = onnx.NodeProto()
        node.CopyFrom(entry.proto)
        node.name = self._prefix + node.name
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                names[place] = self._rename(name) if name else ""
        for graph in subgraphs(node):
            within, values = self.block(graph)
            del graph.node[:]
            graph.node.extend(within)
            for listed in (graph.input, graph.output, graph.value_info):
                rename_values(listed, self._rename)
            for tensor in graph.initializer:
                tensor.name = self._rename(tensor.name)
            graph.value_info.extend(values)
        return node

    def _body(
        self, index: int, entry: Entry, plan: Plan
    ) -> tuple[list[onnx.NodeProto], list[onnx.ValueInfoProto]]:
        unit = plan.unit
        assert unit is not None
        prefix = f"{self._prefix}{entry.proto.op_type}_{index}{self._mark}"
        given, made = entry.proto.input, entry.proto.output
        names = {formal: self._rename(given[place]) for formal, place in unit.inputs}
        names |= {formal: self._rename(made[place]) for formal, place in unit.outputs}
        if unit.captured:
            _, captured = with_own_names(entry.proto)
            names |= {alias: self._rename(name) for alias, name in captured.items()}

        def rename(name: str) -> str:
            return names.get(name) or prefix + name

        nodes, values = _Writing(unit, plan, rename, prefix, self._mark).block(unit.graph)
        for value in unit.graph.value_info:
            if value.name not in names:
                copy = onnx.ValueInfoProto()
                copy.CopyFrom(value)
                copy.name = rename(value.name)
                values.append(copy)
        return nodes, values
