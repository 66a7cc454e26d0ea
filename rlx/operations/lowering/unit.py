"""A graph whose nodes can be looked into: a program, or a typed function body within one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx

from rlx.errors import ProgramError
from rlx.operations.lowering import bodies, checking, resolving
from rlx.operations.lowering.bodies import NoBody
from rlx.operations.lowering.library import Library
from rlx.operations.lowering.renaming import with_own_names
from rlx.operations.lowering.types import type_proto, value_info
from rlx.program.block import Blocks
from rlx.program.canonical import SMALL
from rlx.program.program import Program
from rlx.program.signatures import capabilities_of
from rlx.program.structure import all_graphs, free_names, keep, name_nodes, subgraphs
from rlx.program.tensors import Array, append_tensor
from rlx.program.types import CANONICAL_OPSET, Block, Node, ValueType
from rlx.program.upgrading import needs_rewriting, upgrade

_UNKNOWN = ValueType("")


class Scope:
    """The types and the constants that a block's nodes can see."""

    __slots__ = ("_constants", "_outer", "_types")

    def __init__(self, block: Block, outer: Scope | None = None):
        self._outer = outer
        self._types = {**dict(block.types), **{one.name: one.type for one in block.inputs}}
        self._constants: dict[str, Array] = dict(block.constants)
        for node in block.nodes:
            if node.operation == "Constant":
                value = node.attribute("value")
                if value is not None:
                    self._constants[node.outputs[0]] = value

    def type(self, name: str) -> ValueType:
        """The type of a value; its dtype is "" where that is not known."""
        found = self._types.get(name)
        if found is not None:
            return found
        return _UNKNOWN if self._outer is None else self._outer.type(name)

    def constant(self, name: str) -> Array | None:
        """A small constant's value; None for any other value."""
        found = self._constants.get(name)
        if found is not None:
            return found if found.nbytes <= SMALL else None
        return None if self._outer is None else self._outer.constant(name)


@dataclass(frozen=True, slots=True)
class Entry:
    """One node of a unit: as ONNX has it, as rlx has it, and what it can see."""

    proto: onnx.NodeProto
    node: Node
    scope: Scope
    end: int
    """The place after its last node, those of its graphs included."""


@dataclass(eq=False)
class Unit:
    """A typed graph, its nodes in reading order, and their expansions, each made when asked for.

    In a body, `inputs` and `outputs` are the names there of the operands that the node has, each
    with its place on the node.
    """

    graph: onnx.GraphProto
    block: Block
    library: Library
    inputs: tuple[tuple[str, int], ...] = ()
    outputs: tuple[tuple[str, int], ...] = ()
    captured: frozenset[str] = frozenset()
    """The names there of what the node's graphs read from around it."""
    entries: list[Entry] = field(init=False)
    capabilities: frozenset[str] = field(init=False)
    """What a program of these nodes needs of a backend; sizes are the program's affair."""
    _made: dict[int, Unit | str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.entries = []
        self._enter(self.graph, self.block, None)
        self.capabilities = frozenset(capabilities_of(self.block)) - {"dynamic_shapes"}

    def _enter(self, graph: onnx.GraphProto, block: Block, outer: Scope | None) -> None:
        scope = Scope(block, outer)
        for proto, node in zip(graph.node, block.nodes, strict=True):
            place = len(self.entries)
            self.entries.append(Entry(proto, node, scope, place + 1))
            for inner, within in zip(subgraphs(proto), node.blocks(), strict=True):
                self._enter(inner, within, scope)
            if len(self.entries) > place + 1:
                self.entries[place] = Entry(proto, node, scope, len(self.entries))

    def body(self, index: int) -> Unit | str:
        """The function body of the node at a place; else why there is none, "" for none at all."""
        if index not in self._made:
            try:
                self._made[index] = _body(self.library, self.entries[index])
            except NoBody as reason:
                self._made[index] = str(reason)
        return self._made[index]


def unit_of(program: Program, library: Library) -> Unit:
    """The program as a unit, made once for each vocabulary."""
    key = ("unit", library.key)
    kept = program.variants.get(key)
    if not isinstance(kept, Unit):
        model = onnx.ModelProto()
        model.ParseFromString(program.skeleton)
        kept = program.variants[key] = Unit(model.graph, program.body, library)
    return kept


def _body(library: Library, entry: Entry) -> Unit:
    node = bodies.with_defaults(entry.proto, library.defaults(entry.proto))
    node, captured = with_own_names(node)
    scope = entry.scope
    inputs = [scope.type(name) if name else _UNKNOWN for name in node.input]
    outputs = [scope.type(name) if name else _UNKNOWN for name in node.output]
    constants = [scope.constant(name) if name else None for name in node.input]
    around = {alias: scope.type(name) for alias, name in captured.items()}
    key = _key(node, inputs, outputs, constants, around)
    kept = library.templates.get(key)
    if isinstance(kept, str):
        raise NoBody(kept)
    if isinstance(kept, Unit):
        return kept
    try:
        made = library.templates[key] = _made(library, node, inputs, outputs, constants, around)
    except NoBody as reason:
        library.templates[key] = str(reason)
        raise
    return made


def _key(
    node: onnx.NodeProto,
    inputs: list[ValueType],
    outputs: list[ValueType],
    constants: list[Array | None],
    around: Mapping[str, ValueType],
) -> object:
    """All that a body depends on; names do not matter, but where graphs capture some."""
    bare = onnx.NodeProto()
    bare.CopyFrom(node)
    for names in (bare.input, bare.output):
        for position, name in enumerate(names):
            names[position] = "x" if name else ""
    values = tuple(
        None if one is None else (one.dtype.str, one.shape, repr(one.tolist())) for one in constants
    )
    data = bare.SerializeToString(deterministic=True)
    return data, tuple(inputs), tuple(outputs), values, tuple(around.items())


def _made(
    library: Library,
    node: onnx.NodeProto,
    inputs: list[ValueType],
    outputs: list[ValueType],
    constants: list[Array | None],
    around: Mapping[str, ValueType],
) -> Unit:
    function = library.body(node, [type_proto(one) for one in inputs])
    if len(node.input) > len(function.input) or len(node.output) > len(function.output):
        raise NoBody("it has more operands than its lowering")
    graph = bodies.instantiate(function, node)
    undefined = free_names(graph) - around.keys()
    if undefined:
        raise NoBody(f"its lowering reads {min(undefined)}, which nothing makes")
    places = {name: place for place, name in enumerate(function.input)}
    wanted = {name: place for place, name in enumerate(function.output)}
    formals = tuple((one.name, places[one.name]) for one in graph.input)
    made = tuple((one.name, wanted[one.name]) for one in graph.output)
    typed = [value_info(name, inputs[place]) for name, place in formals]
    typed += [value_info(name, found) for name, found in around.items()]
    results = [value_info(name, outputs[place]) for name, place in made]
    del graph.input[:], graph.output[:]
    graph.input.extend(typed)
    graph.output.extend(results)
    opset = next(entry.version for entry in function.opset_import if not entry.domain)
    model = at_canonical_opset(graph, opset, function)
    known = {name: constants[place] for name, place in formals}
    for name, array in known.items():
        if array is not None:
            append_tensor(model.graph, name, array)
    declared = library.declared(node)
    if declared is not None:
        checking.check_types(declared, inputs, outputs)
        for value in model.graph.output:
            value.ClearField("type")
    model = resolving.infer(model, library)
    if declared is not None:
        names, wanted_types = [one for one, _ in made], [outputs[place] for _, place in made]
        checking.check_results(names, wanted_types, model.graph)
    del model.graph.initializer[:], model.graph.output[:]
    model.graph.output.extend(results)
    block = Blocks(library.schema).block(model.graph, _present(known))
    library.check_types(block)
    return Unit(model.graph, block, library, formals, made, frozenset(around))


def _present(arrays: Mapping[str, Array | None]) -> dict[str, Array]:
    return {name: array for name, array in arrays.items() if array is not None}


def at_canonical_opset(
    graph: onnx.GraphProto, opset: int, function: onnx.FunctionProto
) -> onnx.ModelProto:
    """A model of the graph, brought from its opset to the canonical one.

    Raises:
        NoBody: a node there can't be brought to it.
    """
    model = onnx.ModelProto(ir_version=onnx.IR_VERSION, graph=graph)
    for entry in function.opset_import:
        model.opset_import.add(domain=entry.domain, version=entry.version)
    nodes = [node for inner in all_graphs(model.graph) for node in inner.node]
    if needs_rewriting(nodes, opset):
        try:
            model = upgrade(model, opset)
        except ProgramError as error:
            raise NoBody(f"its lowering is of opset {opset}: {error.message}") from error
        nodes = [
            onnx.helper.make_node("Constant", [], [tensor.name], value=tensor)
            for tensor in model.graph.initializer
        ] + list(model.graph.node)
        keep(model.graph.node, nodes)
        del model.graph.initializer[:]
    for entry in model.opset_import:
        if not entry.domain:
            entry.version = CANONICAL_OPSET
    name_nodes(model.graph)
    return model
