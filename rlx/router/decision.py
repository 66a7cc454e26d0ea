"""The one selector: `decide()` is pure, and says why for every backend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from rlx.device import DeviceSpec
from rlx.router import checks, document, lowerings, text
from rlx.router.checks import NO_FACT, Question
from rlx.router.dispatch import DispatchReport, executed, report
from rlx.router.narrowing import Pending, gather, select
from rlx.router.verdicts import CODES, Candidate, Fact, Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.errors import NoBackend
    from rlx.program import Program, Requirements
    from rlx.registries import Registry
    from rlx.settings import Request


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """The decision: what was selected, and why not each of the others.

    `backend` and `device` are None when nothing fits. `print(route)` explains. The candidates
    are made when they are first read, from the decision and the facts that it rests on.
    """

    backend: str | None
    device: DeviceSpec | None
    """The concrete spec to open: with its index."""
    request: Request
    question: Question = field(repr=False)
    degraded: bool = False
    """True when an implicitly chosen backend failed to open and a later one took its place."""
    _made: list[tuple[Candidate, ...]] = field(default_factory=list, repr=False)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every backend, in decision order."""
        if not self._made:
            self._made.append(checks.candidates(self.question))
        return self._made[0]

    @property
    def program(self) -> Program | None:
        """The program that was routed, where `decide` was given one."""
        return self.question.program

    @property
    def dispatch_report(self) -> DispatchReport:
        """What happens to each node on the selected backend.

        Raises:
            NoBackend: none was selected; `report_for` takes any backend.
        """
        if self.backend is None:
            raise self.error()
        return self.report_for(self.backend)

    def report_for(self, backend: str) -> DispatchReport:
        """What happens to each node on a backend, by id, selected or not."""
        return report(self.question, backend)

    @property
    def lowers(self) -> bool:
        """True where the selected backend is handed a program in which nodes were lowered."""
        return self.backend is not None and self.executed is not self.question.program

    @property
    def executed(self) -> Program:
        """The program as the selected backend is handed it: what it lacks natively is lowered.

        The program itself where nothing is lowered; kept with the program.

        Raises:
            NoBackend: none was selected.
        """
        if self.backend is None:
            raise self.error()
        program = self.question.program
        assert program is not None, "only requirements were routed"
        return executed(self.question, self.backend)

    def to_json(self) -> dict[str, Any]:
        """The decision as plain data; `rlx.router.document.SCHEMA` describes it."""
        return document.to_json(self)

    def error(self) -> NoBackend:
        """The error for a route that selected nothing; its message lists every candidate."""
        return text.error(self)

    def __str__(self) -> str:
        return text.explain(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Route):
            return NotImplemented
        return self._content() == other._content() and self.candidates == other.candidates

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[Any, ...]:
        return (self.backend, self.device, self.request, self.degraded)


def decide(
    registry: Registry,
    requirements: Requirements | Program,
    request: Request,
    facts: Mapping[tuple[str, int], Fact],
    *,
    evaluate_all: bool = False,
) -> Route | Pending:
    """Choose the lowest-rank backend without a reason against it; pure.

    Takes a program, so that reasons can name its nodes, or only its requirements. Returns
    `Pending` when the answer depends on a probe that has not run yet. With `evaluate_all`, and
    when nothing fits, every check of every candidate is evaluated, and so every probe is needed
    except those of disabled backends.
    """
    needs = getattr(requirements, "requirements", None)
    program = None if needs is None else cast("Program", requirements)
    needs = cast("Requirements", requirements if needs is None else needs)
    if program is not None and needs.undefined:
        program = lowerings.resolved(program, registry)
        needs = program.requirements
    used: dict[tuple[str, int], Fact] = {}
    found = select(registry, needs, program, request, facts, used)
    if isinstance(found, Pending):
        return found
    complete = evaluate_all or found is None
    if complete:
        pending = gather(registry, request, facts, used)
        if pending is not None:
            return pending
    place = None if found is None else found[:2]
    question = Question(registry, needs, program, request, used, complete, place)
    if found is None:
        return Route(None, None, request, question)
    index, at, degraded = found
    one = registry.registrations[index]
    asked = None if at is None else request.devices[at].index
    return Route(one.id, DeviceSpec(one.device, asked or 0), request, question, degraded)


__all__ = [
    "CODES",
    "NO_FACT",
    "Candidate",
    "DispatchReport",
    "Fact",
    "Pending",
    "Reason",
    "Route",
    "decide",
]
