"""Lowering in a decision: which backends cover a program by it, and how; made when it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.operations.policies import DEFAULT, parse
from rlx.router.capabilities import lacking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.operations.lowering import Plan
    from rlx.program import Program
    from rlx.registries import Registry
    from rlx.router.checks import Question
    from rlx.settings import Request


def resolved(program: Program, registry: Registry) -> Program:
    """The program with what the registry's vocabulary says of operations that ONNX lacks."""
    if not program.requirements.undefined:
        return program
    foreign = registry.vocabulary.foreign
    if foreign.isdisjoint(program.requirements.undefined):
        return program
    from rlx.operations import lowering  # it needs onnx, as a program that was read does

    return lowering.resolved(program, registry.vocabulary)


def plan(
    registry: Registry, program: Program, request: Request, index: int, *, first: bool = False
) -> Plan:
    """The path of each node on registration `index`; with `first`, up to the first missing one."""
    from rlx.operations import lowering

    table, one = registry.coverage, registry.registrations[index]
    unit = lowering.unit_of(program, lowering.library_of(registry.vocabulary))
    return lowering.plan(
        unit,
        lambda signature: bool(table.claims(signature) >> index & 1),
        parse(request.kernel_dispatch).of,
        lambda needed: lacking(registry, tuple(sorted(needed)), one),
        first=first,
    )


def may_lower(question: Question) -> bool:
    """False where no node of the program can be lowered, so that claims alone decide."""
    if question.program is None or question.request.kernel_dispatch == "native":
        return False
    lowerable = question.registry.vocabulary.lowerable
    return any(one.operation in lowerable for one in question.requirements.signatures)


class Covering:
    """Which of the backends that fit otherwise cover a program, natively or by lowering."""

    __slots__ = ("_dispatch", "_native", "_possible", "_program", "_registry", "_request")

    def __init__(self, registry: Registry, program: Program, request: Request, native: int):
        self._registry, self._program, self._request = registry, program, request
        self._native = native
        self._dispatch = parse(request.kernel_dispatch)
        self._possible: int | None = None

    def natively(self, index: int) -> bool:
        """True where claims alone decide that the backend covers the program."""
        return self._request.kernel_dispatch == DEFAULT and bool(self._native >> index & 1)

    def covers(self, index: int) -> bool:
        """True where each node has a path; expansions are made for it."""
        return not plan(self._registry, self._program, self._request, index, first=True).missing

    def order(self, group: int) -> Iterator[int]:
        """Those of the group that may cover the program, in decision order.

        Where the first of all covers it natively, nothing is worked out for the others.
        """
        from rlx.router.checks import preferred

        first = next(preferred(self._registry, self._request, group), None)
        if first is not None and self.natively(first):
            yield first
            group &= ~(1 << first)
        yield from preferred(self._registry, self._request, group & self._perhaps())

    def _perhaps(self) -> int:
        """The mask of the backends that claim each node that can't be lowered."""
        if self._possible is None:
            self._possible = self._worked_out()
        return self._possible

    def _worked_out(self) -> int:
        table, needs = self._registry.coverage, self._program.requirements
        lowerable = self._registry.vocabulary.lowerable
        mask, of = table.facets.everything, self._dispatch.of
        plain = [
            one
            for one in needs.signatures
            if one.operation not in lowerable or of(one.operation) == "native"
        ]
        if len(plain) < len(needs.signatures) and any(
            node.operation in lowerable and next(node.blocks(), None) is not None
            for node in self._program.nodes()
        ):
            return mask  # what stands in the graphs of a lowered node is lowered with it
        for one in plain:
            mask &= table.claims(one)
            if not mask:
                break
        return mask


__all__ = ["Covering", "may_lower", "plan", "resolved"]
