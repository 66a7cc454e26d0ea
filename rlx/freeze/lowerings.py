"""The lowerings that manifests give: each is a function from its operation's inputs to outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from rlx.freeze import expansion
from rlx.freeze.faults import show
from rlx.freeze.nearest import later
from rlx.operations.lowering import library_of
from rlx.operations.lowering.checking import kind_of
from rlx.operations.lowering.text import LoweringFault, Token, tokens
from rlx.program.schemas import operation_name
from rlx.program.structure import subgraphs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import FunctionProto, GraphProto, NodeProto

    from rlx.freeze.faults import Faults, Node
    from rlx.operations import Operation, Vocabulary
    from rlx.origin import Origin


def check(
    lowerings: Sequence[tuple[Operation, Node]], vocabulary: Vocabulary, faults: Faults
) -> None:
    """Parse every lowering, and note whatever is wrong with it; circles among them too."""
    library = library_of(vocabulary)
    calls: dict[str, expansion.Calls] = {}
    for operation, place in lowerings:
        text = Text(operation.lowering or "", place)
        try:
            function = library.function(operation)
        except LoweringFault as fault:
            origin = text.at(fault.line, fault.column) if fault.line else place.at()
            faults.add("lowering", origin, fault.message, fault.fix)
            continue
        assert function is not None
        checking = _Checking(operation, function, text, vocabulary, faults)
        checking.all()
        calls[operation.name] = checking.calls
    expansion.check(calls, faults)


class Text:
    """A lowering's text, and where each of its places stands in the manifest."""

    def __init__(self, text: str, place: Node):
        self._text, self._place = text, place

    @property
    def origin(self) -> Origin:
        """Where the text begins."""
        return self._place.at()

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.split("\n")

    @cached_property
    def _written(self) -> tuple[int, list[str]]:
        """The line where the text begins, and its lines as they stand in the file."""
        document = self._place.manifest.document
        node = document.node(*self._place.keys)
        assert node is not None
        return node.line, document.source(node).splitlines()

    @cached_property
    def _tokens(self) -> dict[str, list[tuple[Token, str]]]:
        """The tokens by their text, each with the text of the one that follows."""
        found, made = list(tokens(self._text)), defaultdict[str, list[tuple[Token, str]]](list)
        for one, following in zip(found, [*(one.text for one in found[1:]), ""], strict=True):
            made[one.text].append((one, following))
        return made

    def at(self, line: int, column: int) -> Origin:
        """The place in the file; of a text that is not a literal block, where it begins."""
        first, written = self._written
        if written and written[0].startswith("|") and 0 < line < len(written):
            said = self._lines[line - 1]
            indent = len(written[line]) - len(said)
            if written[line].endswith(said) and indent > 0:
                return self._place.manifest.document.at(first + line, indent + column)
        return self.origin

    def of(self, *words: str, call: bool = False, last: bool = False) -> Origin:
        """Where one of the words first, or last, stands; with `call`, as a node's operation."""
        found = [
            (one.line, one.column)
            for word in words
            for one, following in self._tokens.get(word, ())
            if not call or following in ("(", "<")
        ]
        if not found:
            return self.origin
        return self.at(*(max(found) if last else min(found)))


class _Checking:
    """One lowering against its operation's signature and the vocabulary."""

    def __init__(
        self,
        operation: Operation,
        function: FunctionProto,
        text: Text,
        vocabulary: Vocabulary,
        faults: Faults,
    ):
        self.calls = expansion.Calls()
        self._operation, self._function, self._text = operation, function, text
        self._vocabulary, self._faults = vocabulary, faults

    def all(self) -> None:
        """Every fault."""
        made = self._nodes(self._function.node, {one.name for one in self._operation.inputs})
        for one in self._operation.outputs:
            if one.name not in made:
                self._add(
                    self._text.origin,
                    f"the output {one.name} of {self._operation.name} is never made",
                    f"end with a line such as `{one.name} = Identity (…)`.",
                )

    def _add(self, origin: Origin, message: str, fix: str) -> None:
        self._faults.add("lowering", origin, message, fix)

    def _nodes(self, nodes: Iterable[NodeProto], known: set[str]) -> set[str]:
        """Check the nodes of one graph; the names that are known after them."""
        known = set(known)
        for node in nodes:
            self._node(node)
            for name in node.input:
                if name and name not in known:
                    self._add(
                        self._text.of(name),
                        f"{show(name)} is read, but nothing before makes it",
                        later(name, known, "read an input, or what a line above makes.")(),
                    )
            for graph in subgraphs(node):
                self._graph(graph, known)
            for name in node.output:
                if name in known:
                    self._add(
                        self._text.of(name, last=True),
                        f"{show(name)} is made twice, or is an input",
                        "give each value a name of its own.",
                    )
            known.update(name for name in node.output if name)
        return known

    def _graph(self, graph: GraphProto, known: set[str]) -> None:
        own = {value.name for value in graph.input} | {one.name for one in graph.initializer}
        made = self._nodes(graph.node, known | own)
        for value in graph.output:
            if value.name not in made:
                self._add(
                    self._text.of(value.name),
                    f"the output {show(value.name)} of a graph is never made",
                    "make it by a line of the graph.",
                )

    def _node(self, node: NodeProto) -> None:
        name = operation_name(node.domain, node.op_type)
        written = (f"{node.domain or 'ai.onnx'}.{node.op_type}",)
        words = (*written, node.op_type) if not node.domain else written

        def origin() -> Origin:
            return self._text.of(*words, call=True)

        self.calls.nodes += 1
        found = self._vocabulary.get(name)
        if found is None:
            self._faults.add(
                "unknown-operation",
                origin(),
                f"the lowering of {self._operation.name} has the unknown operation {show(name)}",
                later(name, self._vocabulary.names, "declare it in an Operations manifest."),
            )
            return
        if found.lowering is not None:
            if name not in self.calls.places:
                self.calls.places[name] = origin()
            self.calls.counts[name] = self.calls.counts.get(name, 0) + 1
        for what, names, formals in (
            ("inputs", node.input, found.inputs),
            ("outputs", node.output, found.outputs),
        ):
            variadic = any(one.option == "variadic" for one in formals)
            needed = sum(one.option == "single" for one in formals)
            given = sum(bool(one) for one in names)
            if given < needed or (len(names) > len(formals) and not variadic):
                most = "or more" if variadic else f"to {len(formals)}"
                range_ = str(needed) if needed == len(formals) else f"{needed} {most}"
                self._add(
                    origin(),
                    f"{name} has {range_} {what}, got {len(names)}",
                    "write its operands as configs/operations.yaml lists them.",
                )
        self._attributes(node, found, origin)

    def _attributes(self, node: NodeProto, found: Operation, origin: Callable[[], Origin]) -> None:
        declared = {one.name: one.type for one in self._operation.attributes}
        for attribute in node.attribute:
            known = found.attribute(attribute.name)
            if known is None:
                names = [one.name for one in found.attributes]
                self._add(
                    self._text.of(attribute.name),
                    f"{found.name} has no attribute {show(attribute.name)}",
                    later(attribute.name, names, "delete it.")(),
                )
            reference = attribute.ref_attr_name
            kind = declared.get(reference) if reference else kind_of(attribute)
            if known is not None and kind not in (None, known.type):
                self._add(
                    self._text.of(attribute.name),
                    f"the attribute {attribute.name} of {found.name} is {known.type}, got {kind}",
                    f"write a value that is {known.type}.",
                )
            if reference and reference not in declared:
                self._add(
                    self._text.of(f"@{reference}"),
                    f"@{reference} refers to an attribute that {self._operation.name} does not "
                    "declare",
                    later(reference, declared, "declare it under attributes.")(),
                )
        written = {one.name for one in node.attribute}
        for one in found.attributes:
            if one.required and one.name not in written:
                self._add(
                    origin(),
                    f"{found.name} lacks its attribute {one.name}",
                    f"write it: {node.op_type} <{one.name} = …> (…).",
                )
