"""A manifest's lowering: the body of an ONNX function, in ONNX's text syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import helper, parser

from rlx.operations.vocabulary import Operation
from rlx.program.schemas import split_operation
from rlx.program.structure import subgraphs
from rlx.program.types import CANONICAL_OPSET

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|#[^\n]*|@?[A-Za-z_][A-Za-z0-9_.]*|\S', re.ASCII)
_PLACE = re.compile(r"\(line: (\d+) column: (\d+)\)\]")
_OPENED = "{\n"
DEEPEST = 24
"""Graphs within each other, and types within each other, that a lowering may have."""
_TOO_DEEP = (
    f"the lowering nests more than {DEEPEST} graphs or types",
    "move the inner ones to an operation of their own, with a lowering.",
)


class LoweringFault(Exception):
    """A lowering that is not what the syntax allows; line and column count from 1, in its text."""

    def __init__(self, message: str, fix: str, line: int = 0, column: int = 0):
        super().__init__(message)
        self.message, self.fix, self.line, self.column = message, fix, line, column


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a text in quotes or a sign of a lowering, and where it stands."""

    text: str
    line: int
    column: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a lowering, without comments."""
    for number, line in enumerate(text.split("\n"), 1):
        for found in _TOKEN.finditer(line):
            if not found[0].startswith("#"):
                yield Token(found[0], number, found.start() + 1)


def parse(operation: Operation, domains: Mapping[str, int]) -> onnx.FunctionProto:
    """The function that an operation's lowering is the body of; its header is made here.

    `domains` are those that the body may name, with their versions, beside `ai.onnx`.

    Raises:
        LoweringFault: the text does not parse, or the signature can't be a function's.
    """
    assert operation.lowering is not None
    _check_signature(operation)
    _check_brackets(operation.lowering)
    domain, name = split_operation(operation.name)
    imports = {"": CANONICAL_OPSET, **domains, domain: domains.get(domain, 1)}
    imported = ", ".join(f'"{one}" : {version}' for one, version in sorted(imports.items()))
    inputs = ", ".join(one.name for one in operation.inputs)
    outputs = ", ".join(one.name for one in operation.outputs)
    names = ", ".join(one.name for one in operation.attributes)
    head = f'<domain: "{domain}", opset_import: [{imported}]> {name}'
    head += f" <{names}>" if names else ""
    source = f"{head} ({inputs}) => ({outputs}) {_OPENED}{operation.lowering}\n}}"
    try:
        made = parser.parse_function(source)
    except parser.ParseError as error:
        raise _translated(error, operation.lowering) from error
    except DecodeError as error:  # nested more deeply than protobuf reads
        raise LoweringFault(*_TOO_DEEP) from error
    kinds = {one.name: helper.AttributeProto.AttributeType.Value(one.type)
             for one in operation.attributes}  # fmt: skip
    for node in made.node:
        _type_references(node, kinds)
    return made


def _type_references(node: onnx.NodeProto, kinds: Mapping[str, int]) -> None:
    """Give references to attributes the type that the signature states."""
    for attribute in node.attribute:
        if attribute.ref_attr_name and not attribute.type:
            attribute.type = kinds.get(attribute.ref_attr_name, 0)
    for graph in subgraphs(node):
        for inner in graph.node:
            _type_references(inner, kinds)


def _check_signature(operation: Operation) -> None:
    for what, formals in (("input", operation.inputs), ("output", operation.outputs)):
        for one in formals:
            if one.option == "variadic":
                raise LoweringFault(
                    f"{operation.name} has the variadic {what} {one.name}, so it can't be lowered",
                    "declare each operand by its name, or delete the lowering.",
                )
    named = [("operand", one.name) for one in (*operation.inputs, *operation.outputs)]
    named += [("attribute", one.name) for one in operation.attributes]
    named += [("operation", split_operation(operation.name)[1])]
    for what, name in named:
        if not _IDENTIFIER.fullmatch(name):
            raise LoweringFault(
                f"a lowering can't name the {what} {name!r}",
                "use letters, digits and _ alone, a letter first.",
            )
    made = [one.name for one in operation.outputs]
    for one in operation.inputs:
        if one.name in made:
            raise LoweringFault(
                f"{one.name} is an input and an output of {operation.name}",
                "give each a name of its own.",
            )


def _check_brackets(text: str) -> None:
    """A brace that closes what the text did not open would end the function early.

    Graphs within graphs, and types within types, are bounded: ONNX's parser calls itself for each.
    """
    depths = {"{": 0, "(": 0}
    for token in tokens(text):
        sign = {"}": "{", ")": "("}.get(token.text, token.text)
        if sign not in depths:
            continue
        depths[sign] += 1 if sign == token.text else -1
        if depths["{"] < 0:
            raise LoweringFault(
                "the lowering closes a brace that it does not open",
                "delete it: rlx writes the function's own braces.",
                token.line,
                token.column,
            )
        if depths[sign] > DEEPEST:
            raise LoweringFault(*_TOO_DEEP, token.line, token.column)


def _translated(error: Exception, text: str) -> LoweringFault:
    said = error.args[0] if error.args else ""
    told = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    place = _PLACE.search(told)
    line, column = (int(place[1]) - 1, int(place[2])) if place else (0, 0)
    what = told.rstrip().rpartition("\n")[2].rstrip(".")
    lines = text.split("\n")
    if line > len(lines):  # the brace that rlx adds: the text ended too early
        line = max(i for i, one in enumerate(lines, 1) if one.strip() or i == 1)
        column = len(lines[line - 1].rstrip()) + 1
    return LoweringFault(
        f"the lowering does not parse: {what[:1].lower()}{what[1:]}",
        "write a line for each node, as `y = MatMul (x, w)`.",
        line,
        column,
    )
