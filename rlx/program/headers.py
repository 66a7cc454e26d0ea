"""What a model says of itself: IR version, imported domains, and local functions within bounds."""

from __future__ import annotations

from collections.abc import Iterable

import onnx

from rlx.errors import ProgramError, UnsafeProgram
from rlx.program.schemas import domain_versions
from rlx.program.structure import label, subgraphs
from rlx.program.types import CANONICAL_OPSET

OLDEST_IR = 3
MOST_NODES = 1_000_000
"""Nodes that a program may have once its local functions are inlined."""

FunctionId = tuple[str, str, str]


def check_header(model: onnx.ModelProto) -> None:
    """Refuse a model whose IR version this rlx does not read, or that holds no graph."""
    if not model.HasField("graph"):
        raise ProgramError("not an ONNX model: it holds no graph", fix="export the model again.")
    if not OLDEST_IR <= model.ir_version <= onnx.IR_VERSION:
        raise ProgramError(
            f"IR version {model.ir_version}; this rlx knows {OLDEST_IR} to {onnx.IR_VERSION}",
            fix="export with another version of onnx, or upgrade rlx.",
        )


def read_imports(imports: Iterable[onnx.OperatorSetIdProto], who: str) -> dict[str, int]:
    """The imported version by domain (`ai.onnx` is ""); refuses what is newer than known."""
    versions: dict[str, int] = {}
    for entry in imports:
        domain = plain_domain(entry.domain)
        shown = domain or "ai.onnx"
        if versions.setdefault(domain, entry.version) != entry.version:
            raise ProgramError(
                f"{who} imports {shown} twice, {versions[domain]} and {entry.version}"
            )
        newest = CANONICAL_OPSET if not domain else domain_versions().get(domain)
        if newest is not None and entry.version > newest:
            raise ProgramError(
                f"{who} imports {shown} {entry.version}; this rlx knows up to {newest}",
                fix=f"export at opset {newest} or below, or upgrade rlx.",
            )
        if entry.version < 1:
            raise ProgramError(f"{who} imports {shown} {entry.version}; versions count from 1")
    return versions


def plain_domain(domain: str) -> str:
    """The domain, with `ai.onnx` as the empty text that ONNX uses for it."""
    return "" if domain == "ai.onnx" else domain


def check_domains(nodes: Iterable[onnx.NodeProto], imports: dict[str, int]) -> None:
    """Refuse a node, here or in a subgraph, whose domain is not imported."""
    for index, node in enumerate(nodes):
        if node.domain not in imports:
            raise ProgramError(
                f"{label(node, index)}: the model imports no version of {node.domain or 'ai.onnx'}",
                fix="add the domain to the model's opset_import.",
            )
        for inner in subgraphs(node):
            check_domains(inner.node, imports)


def check_functions(model: onnx.ModelProto) -> None:
    """Refuse local functions that call themselves, or that inline to an absurd number of nodes."""
    functions: dict[FunctionId, onnx.FunctionProto] = {}
    for function in model.functions:
        key = (plain_domain(function.domain), function.name, function.overload)
        if key in functions:
            raise ProgramError(f"the local function '{function.name}' is defined twice")
        functions[key] = function
    sizes: dict[FunctionId, int] = {}
    total = _inlined(model.graph.node, functions, sizes, ())
    if total > MOST_NODES:
        raise UnsafeProgram(
            f"its local functions inline to over {MOST_NODES} nodes",
            fix="check where the file comes from; rlx inlines no more than that.",
        )


def _inlined(
    nodes: Iterable[onnx.NodeProto],
    functions: dict[FunctionId, onnx.FunctionProto],
    sizes: dict[FunctionId, int],
    open_calls: tuple[FunctionId, ...],
) -> int:
    """The number of nodes after inlining."""
    total = 0
    for node in nodes:
        key = (node.domain, node.op_type, node.overload)
        if key in open_calls:
            raise ProgramError(f"the local function '{node.op_type}' calls itself")
        total += 1
        if key in functions:
            if len(open_calls) > 64:
                raise UnsafeProgram("its local functions call each other over 64 levels deep")
            if key not in sizes:
                sizes[key] = _inlined(functions[key].node, functions, sizes, (*open_calls, key))
            total += sizes[key]
        total += sum(_inlined(g.node, functions, sizes, open_calls) for g in subgraphs(node))
    return total
