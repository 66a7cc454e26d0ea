"""The dispatch report: what happens to each node of a program on one backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.errors import UnknownBackend, printable
from rlx.router.checks import coverage_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.program import Signature
    from rlx.router.checks import Question
    from rlx.router.verdicts import Reason

PATHS = ("native", "lowered", "missing")


@dataclass(frozen=True, slots=True)
class MissingNode:
    """A node that the backend does not claim, and that nothing lowers."""

    index: int
    """Its place in the program, subgraphs included."""
    name: str | int
    """Its name, or its place where no program was given."""
    operation: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class DispatchReport:
    """How many nodes take which path on one backend, and every node that has none.

    An unclaimed node is never called native.
    """

    backend: str
    policy: str
    """The `kernel_dispatch` in force: `native`, `prefer-native` or `common`."""
    counts: tuple[tuple[str, int], ...]
    """Nodes per path, every path listed."""
    operations: tuple[tuple[str, str, int], ...]
    """(path, operation, nodes), by path and name."""
    missing: tuple[MissingNode, ...]

    @property
    def nodes(self) -> int:
        """How many nodes there are, subgraphs included."""
        return sum(count for _, count in self.counts)

    @property
    def compile_ready(self) -> bool:
        """True when no node is missing."""
        return not self.missing

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "backend": self.backend,
            "kernel_dispatch": self.policy,
            "compile_ready": self.compile_ready,
            "nodes": self.nodes,
            "paths": dict(self.counts),
            "operations": [
                {"operation": operation, "path": path, "nodes": count}
                for path, operation, count in self.operations
            ],
            "missing": [
                {
                    "index": one.index,
                    "node": str(one.name),
                    "operation": one.operation,
                    "detail": one.reason.detail,
                    "source": str(one.reason.source) if one.reason.source else None,
                }
                for one in self.missing
            ],
        }

    def __str__(self) -> str:
        counted = ", ".join(f"{count} {path}" for path, count in self.counts if count) or "no nodes"
        lines = [f"dispatch on {self.backend} ({self.policy}): {counted}"]
        for path in PATHS:
            held = [f"{name} {count}" for at, name, count in self.operations if at == path]
            if held and path != "missing":
                lines.append(f"  {path:<8} {printable(', '.join(held))}")
        for one in self.missing:
            source = f"   ({printable(str(one.reason.source))})" if one.reason.source else ""
            lines.append(f"  missing  {one.reason.detail}{source}")
        return "\n".join(lines)


def path_of(question: Question, backend: str, signature: Signature) -> str:
    """What happens to a node of this signature on a registered backend: one of `PATHS`."""
    table = question.registry.coverage
    return "native" if table.claims(signature) >> table.facets.index[backend] & 1 else "missing"


def report(question: Question, backend: str) -> DispatchReport:
    """The report for any registered backend, whether or not the route selected it.

    Raises:
        UnknownBackend: no backend has this id.
    """
    table = question.registry.coverage
    index = table.facets.index.get(backend)
    if index is None:
        raise UnknownBackend(f"no backend {printable(backend)!r} is registered")
    totals: dict[tuple[str, str], int] = {}
    missing: list[MissingNode] = []
    for number, name, signature, count in _nodes(question):
        path = path_of(question, backend, signature)
        key = (path, signature.operation)
        totals[key] = totals.get(key, 0) + count
        if path == "missing":
            reason = coverage_reason(question, index, signature, number)
            missing.append(MissingNode(number, name, signature.operation, reason))
    counts = dict.fromkeys(PATHS, 0)
    for (path, _), count in totals.items():
        counts[path] += count
    ordered = sorted(totals, key=lambda key: (PATHS.index(key[0]), key[1]))
    return DispatchReport(
        backend,
        question.request.kernel_dispatch,
        tuple(counts.items()),
        tuple((path, operation, totals[path, operation]) for path, operation in ordered),
        tuple(missing),
    )


def _nodes(question: Question) -> Iterator[tuple[int, str | int, Signature, int]]:
    """Each node's place, name and signature, with 1; without a program, each distinct signature."""
    if question.program is not None:
        for node in question.program.nodes():
            yield node.index, node.name, node.signature, 1
        return
    needs = question.requirements
    for place, signature in enumerate(needs.signatures):
        first = needs.first_nodes[place] if needs.first_nodes else place
        yield first, first, signature, needs.counts[place] if needs.counts else 1
