"""Types of values where operations of other domains stand: what their lowerings make is looked at.

ONNX infers nothing below a node that it does not define. So a copy is inferred in which each such
node is replaced by its lowering, and the types of the values that both have are taken over. Where
there is no lowering, the signature that the manifest declares says the outputs' dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import onnx

from rlx.operations.lowering.bodies import NoBody, instantiate, with_defaults
from rlx.operations.lowering.checking import check_nodes
from rlx.operations.lowering.library import Library, library_of
from rlx.operations.lowering.renaming import rename_node, with_own_names
from rlx.operations.lowering.types import type_proto
from rlx.operations.vocabulary import Vocabulary
from rlx.program.inference import infer_with_defaults
from rlx.program.program import Program
from rlx.program.schemas import operation_name, value_type
from rlx.program.stages import SCHEMAS
from rlx.program.structure import all_graphs
from rlx.program.tensors import append_tensor
from rlx.program.types import ValueType

SMALL = 4096
"""Bytes of the constants that inference may read."""
_Address = tuple[tuple[int, int, int], ...]
"""Where a graph stands within a model: by node, attribute, and place among its graphs or -1."""


def resolved(program: Program, vocabulary: Vocabulary) -> Program:
    """The program with the types and signatures that a vocabulary gives its foreign operations.

    The program itself where the vocabulary declares none of them. Made once for each vocabulary;
    it has the digest of the program, since it computes the same.

    Raises:
        ProgramError: a node is not as its operation is declared.
    """
    if not any(name in vocabulary.foreign for name in program.requirements.undefined):
        return program
    library = library_of(vocabulary)
    key = ("resolved", library.key)
    kept = program.variants.get(key)
    if isinstance(kept, Program):
        return kept
    model = onnx.ModelProto()
    model.ParseFromString(program.skeleton)
    check_nodes(model, library)
    constants = dict(program.body.constants)
    inputs = len(model.graph.input)
    for name, array in constants.items():
        if array.nbytes <= SMALL:
            append_tensor(model.graph, name, array)
        else:
            made = model.graph.input.add(name=name)
            made.type.CopyFrom(type_proto(dict(program.body.types)[name]))
    typed = infer(model, library)
    del typed.graph.initializer[:], typed.graph.input[inputs:]
    made = Program.from_canonical(
        typed.SerializeToString(deterministic=True),
        constants,
        program.name,
        program.path,
        library.schema,
    )
    made.variants[SCHEMAS] = library.schema
    kept = program.variants[key] = replace(made, digest=program.digest)
    return kept


def infer(model: onnx.ModelProto, library: Library) -> onnx.ModelProto:
    """A copy with the type of every value that can be known; nothing is refused."""
    nodes = [node for graph in all_graphs(model.graph) for node in graph.node]
    if not any(library.declared(node) is not None for node in nodes):
        return infer_with_defaults(model)
    flat = onnx.ModelProto(ir_version=onnx.IR_VERSION, opset_import=model.opset_import)
    flattening = _Flattening(library)
    flattening.graph(model.graph, flat.graph, ())
    found = _inferred(flat, library)
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for address in flattening.addresses:
        source, target = _at(found.graph, address.flat), _at(made.graph, address.own)
        types = {value.name: value for value in (*source.value_info, *source.output)}
        listed = {value.name for value in target.output}
        del target.value_info[:]
        for name in (name for node in target.node for name in node.output):
            if name in types and name not in listed:
                target.value_info.append(types[name])
        for value in target.output:
            if value.name in types and not value_type(value.type).dtype:
                value.CopyFrom(types[value.name])
    return made


@dataclass(frozen=True, slots=True)
class _Pair:
    own: _Address
    flat: _Address


@dataclass(slots=True)
class _Flattening:
    """Copies a graph with declared operations replaced by their lowerings."""

    library: Library
    addresses: list[_Pair] = field(default_factory=list)
    _count: int = 0

    def graph(
        self,
        source: onnx.GraphProto,
        target: onnx.GraphProto,
        flat: _Address,
        own: _Address = (),
    ) -> None:
        self.addresses.append(_Pair(own, flat))
        for name in ("input", "output", "initializer", "value_info"):
            getattr(target, name).extend(getattr(source, name))
        target.name = source.name
        for place, node in enumerate(source.node):
            expanded = self.expanded(node)
            if expanded is not None:
                target.node.extend(expanded)
                continue
            copy = target.node.add()
            copy.CopyFrom(node)
            at = len(target.node) - 1
            for number, attribute in enumerate(copy.attribute):
                if attribute.HasField("g"):
                    attribute.g.Clear()
                    within = (number, -1)
                    self.graph(
                        node.attribute[number].g,
                        attribute.g,
                        (*flat, (at, *within)),
                        (*own, (place, *within)),
                    )
                for index, graph in enumerate(attribute.graphs):
                    graph.Clear()
                    self.graph(
                        node.attribute[number].graphs[index],
                        graph,
                        (*flat, (at, number, index)),
                        (*own, (place, number, index)),
                    )

    def expanded(self, node: onnx.NodeProto) -> list[onnx.NodeProto] | None:
        """The nodes of a declared operation's lowering, in the names of the graph around it."""
        declared = self.library.declared(node)
        function = None if declared is None else self.library.function(declared)
        if function is None:
            return None
        full, captured = with_own_names(with_defaults(node, self.library.defaults(node)))
        try:
            body = instantiate(function, full)
        except NoBody:
            return None
        self._count += 1
        prefix = f"\0{self._count}."
        names = dict(captured)
        names |= dict(zip(function.input, node.input, strict=False))
        names |= {f: a for f, a in zip(function.output, node.output, strict=False) if a}

        made = []
        for one in body.node:
            rename_node(one, lambda name: names.get(name) or prefix + name)
            within = self.expanded(one)
            made += [one] if within is None else within
        return made


def _at(graph: onnx.GraphProto, address: _Address) -> onnx.GraphProto:
    for node, attribute, index in address:
        held = graph.node[node].attribute[attribute]
        graph = held.g if index < 0 else held.graphs[index]
    return graph


def _inferred(model: onnx.ModelProto, library: Library) -> onnx.ModelProto:
    """Infer again while the signatures of declared operations add a type."""
    found = infer_with_defaults(model)
    while True:
        added = [
            value for graph in all_graphs(found.graph) for value in _implied(graph, found, library)
        ]
        if not added:
            return found
        for graph, value in added:
            graph.value_info.append(value)
        found = infer_with_defaults(found)


def _implied(
    graph: onnx.GraphProto, model: onnx.ModelProto, library: Library
) -> Iterator[tuple[onnx.GraphProto, onnx.ValueInfoProto]]:
    """The outputs of declared operations in a graph whose type only the declaration tells."""
    foreign = [node for node in graph.node if library.declared(node) is not None]
    if not foreign:
        return
    types: dict[str, ValueType] = {}
    for one in all_graphs(model.graph):
        types |= {t.name: value_type(onnx.helper.make_tensor_type_proto(t.data_type, t.dims))
                  for t in one.initializer}  # fmt: skip
        for value in (*one.value_info, *one.output, *one.input):
            types[value.name] = value_type(value.type)
    for node in foreign:
        schema = library.schema(operation_name(node.domain, node.op_type))
        assert schema is not None
        bound = dict(schema.fixed)
        for place, name in enumerate(node.input):
            formal = schema.input(place)
            if formal is not None and name in types and types[name].dtype:
                bound.setdefault(formal.type, types[name].dtype)
        for place, name in enumerate(node.output):
            formal = schema.output(place)
            known = name in types and types[name].dtype
            if name and formal is not None and not known and formal.type in bound:
                dtype = bound[formal.type]
                kind = "sequence" if dtype.startswith("seq(") else "tensor"
                kind = "optional" if dtype.startswith("optional(") else kind
                made = onnx.ValueInfoProto(name=name)
                made.type.CopyFrom(type_proto(ValueType(dtype, None, kind)))
                yield graph, made


__all__ = ["infer", "resolved"]
