"""What a model says of itself: IR version, imported domains, and local functions within bounds."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping

import onnx

from rlx.errors import ProgramError, UnsafeProgram
from rlx.program.schemas import domain_versions, newest_schema, operation_names, schema_at
from rlx.program.structure import all_graphs, label, subgraphs
from rlx.program.types import CANONICAL_OPSET

OLDEST_IR = 3
MOST_NODES = 1_000_000
"""Nodes that a program may have once its local functions are inlined."""

DEPRECATED_BUT_READ = frozenset({("", "GroupNormalization")})
"""Marked as deprecated in some opset, but common in files and rewritten on reading."""

FunctionId = tuple[str, str, str]


def check_header(model: onnx.ModelProto) -> None:
    """Refuse a model whose IR version this rlx does not read, or that has no graph or outputs."""
    if not model.HasField("graph"):
        raise ProgramError("not an ONNX model: it holds no graph", fix="export the model again.")
    if not model.graph.output:
        raise ProgramError(
            f"the graph '{model.graph.name}' has no outputs, so it computes nothing",
            fix="name in its outputs what it is to compute.",
        )
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


def check_operations(
    nodes: Iterable[onnx.NodeProto], imports: Mapping[str, int], local: Collection[tuple[str, str]]
) -> None:
    """Refuse a node, here or in a subgraph, whose operation the imported domains do not have.

    `local` are the (domain, name) of local functions. Domains that ONNX does not define may hold
    any operation.
    """
    for index, node in enumerate(nodes):
        if (node.domain, node.op_type) not in local:
            if node.domain not in imports:
                raise ProgramError(
                    f"{label(node, index)}: the model imports no version of "
                    f"{node.domain or 'ai.onnx'}",
                    fix="add the domain to the model's opset_import.",
                )
            if node.domain in domain_versions():
                _check_operation(node, index, imports[node.domain])
        for inner in subgraphs(node):
            check_operations(inner.node, imports, local)


def _check_operation(node: onnx.NodeProto, index: int, version: int) -> None:
    domain, name = node.domain, node.op_type
    if schema_at(domain, name, version) or (domain, name) in DEPRECATED_BUT_READ:
        return
    shown = f"{domain or 'ai.onnx'} {version}"
    newest = newest_schema(domain, name)
    if newest is None:
        near = difflib.get_close_matches(name, sorted(operation_names(domain)), 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        problem = f"{domain or 'ai.onnx'} has no operation of this name{hint}"
    elif newest.since_version > version:
        problem = f"{shown} has no such operation; it came with {_first_version(domain, name)}"
    else:
        problem = f"{shown} has no such operation any more"
    raise ProgramError(f"{label(node, index)}: {problem}", fix="export the model again.")


def _first_version(domain: str, name: str) -> int:
    found = newest_schema(domain, name)
    assert found is not None
    first = int(found.since_version)
    while first > 1 and (older := schema_at(domain, name, first - 1)) is not None:
        first = int(older.since_version)
    return first


def canonical_imports(model: onnx.ModelProto) -> None:
    """Import each domain that is used at one version, whatever the file said.

    `ai.onnx` at the canonical opset, other domains of ONNX at the newest that still has every
    operation used, and foreign domains as they are.
    """
    said = {entry.domain: entry.version for entry in model.opset_import}
    used: dict[str, set[str]] = {"": set()}
    for graph in all_graphs(model.graph):
        for node in graph.node:
            used.setdefault(node.domain, set()).add(node.op_type)
    del model.opset_import[:]
    for domain in sorted(used):
        version = CANONICAL_OPSET
        if domain:
            version = domain_versions().get(domain, said.get(domain, 1))
            while (
                version > 1
                and domain in domain_versions()
                and not all(schema_at(domain, name, version) for name in used[domain])
            ):
                version -= 1
        model.opset_import.add(domain=domain, version=version)


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


def function_opsets(model: onnx.ModelProto, imports: Mapping[str, int]) -> dict[int, int]:
    """By index of function, its `ai.onnx` opset: empty where all have that of the model."""
    found = {
        index: read_imports(function.opset_import, f"the function '{function.name}'")
        for index, function in enumerate(model.functions)
    }
    opsets = {index: versions[""] for index, versions in found.items() if "" in versions}
    return opsets if any(opset != imports.get("") for opset in opsets.values()) else {}


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
                raise UnsafeProgram(
                    "its local functions call each other over 64 levels deep",
                    fix="check where the file comes from; rlx inlines no deeper than that.",
                )
            if key not in sizes:
                sizes[key] = _inlined(functions[key].node, functions, sizes, (*open_calls, key))
            total += sizes[key]
        total += sum(_inlined(g.node, functions, sizes, open_calls) for g in subgraphs(node))
    return total
