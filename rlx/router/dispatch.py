"""The dispatch report: what happens to each node of a program on one backend."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.errors import UnknownBackend, printable
from rlx.operations.policies import DEFAULT
from rlx.program.types import BARRIER
from rlx.router import barriers
from rlx.router.capabilities import capability
from rlx.router.checks import coverage_reason
from rlx.router.lowerings import may_lower
from rlx.router.lowerings import plan as lowering_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.operations.lacks import Lack
    from rlx.operations.lowering import Plan
    from rlx.program import Program, Signature
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
    """The `kernel_dispatch` in force: a policy, and operations with one of their own."""
    counts: tuple[tuple[str, int], ...]
    """Nodes per path, every path listed."""
    operations: tuple[tuple[str, str, int], ...]
    """(path, operation, nodes), by path and name."""
    missing: tuple[MissingNode, ...]
    lowered: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    """(operation, what its nodes became): each operation that is run in their place, with how
    often it is. The nodes of a lowered node's graphs are counted with it."""
    executed: tuple[tuple[str, int], ...] = ()
    """(operation, nodes) of the program that the backend is handed, missing nodes left out."""
    stages: int = 1
    """In how many stages it runs the program: more than one where it is cut at its barriers."""

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
            "lowered": [
                {
                    "operation": name,
                    "became": [{"operation": one, "nodes": count} for one, count in inner],
                }
                for name, inner in self.lowered
            ],
            "executed": [{"operation": name, "nodes": count} for name, count in self.executed],
            "stages": self.stages,
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
        for name, inner in self.lowered:
            held = [f"{one} {count}" for one, count in inner]
            nothing = f"the ends of {self.stages} stages" if name == BARRIER else "nothing"
            lines.append(f"  {printable(name)} became {printable(', '.join(held)) or nothing}")
        for one in self.missing:
            source = f"   ({printable(str(one.reason.source))})" if one.reason.source else ""
            lines.append(f"  missing  {one.reason.detail}{source}")
        return "\n".join(lines)


def path_of(question: Question, backend: str, signature: Signature) -> str:
    """What happens to the nodes of this signature on a registered backend: one of `PATHS`.

    `missing` where one of them is.
    """
    index = question.registry.coverage.facets.index[backend]
    if signature.operation == BARRIER:
        return _barriers(question, index)
    if may_lower(question):
        found = _plan(question, index)
        unit = found.unit
        assert unit is not None
        paths = {
            path
            for path, entry in zip(found.paths, unit.entries, strict=True)
            if entry.node.signature == signature
        }
        return next((path for path in reversed(PATHS) if path in paths), "missing")
    return "native" if question.registry.coverage.claims(signature) >> index & 1 else "missing"


def _barriers(question: Question, index: int) -> str:
    """The path of the program's barriers on a backend."""
    held = question.registry.registrations[index].capabilities
    return barriers.path(held, question.request.kernel_dispatch)


def executed(question: Question, backend: str) -> Program:
    """The program that a backend is handed; every node of it has a path there."""
    program = question.program
    assert program is not None
    table = question.registry.coverage
    index = table.facets.index[backend]
    native = table.covers(question.requirements) >> index & 1
    if (native and question.request.kernel_dispatch == DEFAULT) or not may_lower(question):
        return program
    from rlx.operations.lowering import lowered

    return lowered(program, _plan(question, index))


def _plan(question: Question, index: int) -> Plan:
    assert question.program is not None
    return lowering_plan(question.registry, question.program, question.request, index)


def report(question: Question, backend: str) -> DispatchReport:
    """The report for any registered backend, whether or not the route selected it.

    Raises:
        UnknownBackend: no backend has this id.
    """
    table = question.registry.coverage
    index = table.facets.index.get(backend)
    if index is None:
        raise UnknownBackend(f"no backend {printable(backend)!r} is registered")
    nodes = list(_nodes(question))
    became: dict[str, Counter[str]] = {}
    ran: Counter[str] = Counter()
    lacks: dict[int, Lack] = {}
    lowering = may_lower(question)
    if lowering:
        found = _plan(question, index)
        paths = found.paths
        lacks, ran = found.missing, found.executed.copy()
        for number, inner in found.lowered.items():
            became.setdefault(nodes[number][2].operation, Counter()).update(inner.executed)
    else:
        paths = [
            "native" if table.claims(one) >> index & 1 else "missing" for _, _, one, _ in nodes
        ]
    if BARRIER in {signature.operation for _, _, signature, _ in nodes}:
        cut = _barriers(question, index)
        paths = [
            cut if one.operation == BARRIER else path
            for path, (_, _, one, _) in zip(paths, nodes, strict=True)
        ]
        if cut == "lowered":
            became[BARRIER] = Counter()
        if cut != "native":
            del ran[BARRIER]
    totals: Counter[tuple[str, str]] = Counter()
    missing: list[MissingNode] = []
    for place, (path, (number, name, signature, count)) in enumerate(
        zip(paths, nodes, strict=True)
    ):
        totals[path, signature.operation] += count
        if path == "native" and not lowering:
            ran[signature.operation] += count
        if path == "missing":
            if signature.operation == BARRIER:
                (reason,) = capability(question, question.registry.registrations[index])
            else:
                reason = coverage_reason(question, index, signature, number, lacks.get(place))
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
        tuple((name, tuple(sorted(inner.items()))) for name, inner in sorted(became.items())),
        tuple(sorted(ran.items())),
        1 + totals["lowered", BARRIER],
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
