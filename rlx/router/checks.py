"""The checks of the selector, one backend at a time: each gives the reason against it, or None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.coverage.facets import bits
from rlx.coverage.misses import Miss
from rlx.operations.lacks import NOT_LOWERED, Lack
from rlx.origin import Origin
from rlx.router.capabilities import capability
from rlx.router.lowerings import may_lower
from rlx.router.lowerings import plan as lowering_plan
from rlx.router.operands import find_node, input_at, operand_of_type
from rlx.router.verdicts import Candidate, Fact, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rlx.device import DeviceSpec
    from rlx.program import Program, Requirements, Signature
    from rlx.registration import Registration
    from rlx.registries import Registry
    from rlx.settings import Request

NO_FACT = Fact()


@dataclass(frozen=True, slots=True)
class Question:
    """All that a decision depends on; `facts` is a copy of those that were looked at."""

    registry: Registry
    requirements: Requirements
    program: Program | None
    """With the types that the registry's vocabulary gives it."""
    request: Request
    facts: Mapping[tuple[str, int], Fact]
    complete: bool
    """True: every check of every candidate is evaluated."""
    selected: tuple[int, int | None] | None
    """The registration's place in order, and the place of the device spec in the request."""


def places(registry: Registry, request: Request) -> Iterator[tuple[int, int | None]]:
    """Each backend in decision order, with the place of the device spec that it is tried for.

    The request's devices come first, in their order; then `RLX_PRECEDENCE`; then (rank, id). A
    backend on none of the devices comes last; one on two of them, by index, comes twice.
    """
    facets = registry.coverage.facets
    left = facets.everything
    for at, spec in enumerate(request.devices):
        group = facets.devices.get(spec.name, 0)
        left &= ~group
        for index in preferred(registry, request, group):
            yield index, at
    for index in preferred(registry, request, left):
        yield index, None


def preferred(registry: Registry, request: Request, group: int) -> Iterator[int]:
    """The bits of `group`: those that `RLX_PRECEDENCE` names first, then in (rank, id) order."""
    index = registry.coverage.facets.index
    for name in request.precedence:
        one = index.get(name)
        if one is not None and group >> one & 1:
            group &= ~(1 << one)
            yield one
    yield from bits(group)


def candidates(question: Question) -> tuple[Candidate, ...]:
    """Every backend's verdict, in decision order."""
    made = []
    after = False
    for index, at in places(question.registry, question.request):
        one = question.registry.registrations[index]
        spec = None if at is None else question.request.devices[at]
        reasons: tuple[Reason, ...] = ()
        verdict = "not-reached"
        if question.selected == (index, at):
            verdict, after = "selected", True
        elif question.complete or not after:
            found = _reasons(question, index, one, spec)
            first = next(found, None)
            reasons = () if first is None else (first,)
            if question.complete:
                reasons += tuple(found)
            verdict = "rejected" if reasons else "not-reached"
        made.append(Candidate(one.id, str(spec or one.device), one.rank, verdict, reasons))
    return tuple(made)


def _reasons(
    question: Question, index: int, one: Registration, spec: DeviceSpec | None
) -> Iterator[Reason]:
    """Every failing check, in the order of the codes."""
    request = question.request
    named = request.backend == one.id
    masked = disabled_by(question.registry, request, one)
    if masked:
        yield Reason(
            "disabled",
            (("by", f"RLX_DISABLE={masked}"),),
            fix=f"take {masked} out of RLX_DISABLE.",
            source=Origin("RLX_DISABLE", layer="environment"),
        )
    elif not one.enabled:
        fix = f"set `enabled: true` for {one.id}."
        yield Reason("disabled", (("by", None),), fix=fix, source=one.source("enabled"))
    yield from _not_requested(request, one, spec, named)
    if one.reference_oracle and not named:
        yield Reason("oracle", source=one.source("reference_oracle"))
    if not one.dispatches:
        yield Reason("emission-only", source=one.source("dispatches"))
    yield from capability(question, one)
    yield from _coverage(question, index)
    yield from _facts(question, one, spec, named)


def disabled_by(registry: Registry, request: Request, one: Registration) -> str | None:
    """The name in `RLX_DISABLE` that masks this backend: its id, its device, or an alias."""
    for name in request.disabled:
        if name == one.id or _device_id(registry, name) == one.device:
            return name
    return None


def disabled_mask(registry: Registry, request: Request) -> int:
    """The mask of the backends that `RLX_DISABLE` masks."""
    facets = registry.coverage.facets
    mask = 0
    for name in request.disabled:
        own = facets.index.get(name)
        mask |= 0 if own is None else 1 << own
        mask |= facets.devices.get(_device_id(registry, name), 0)
    return mask


def _device_id(registry: Registry, name: str) -> str:
    return next((one.id for one in registry.devices if name in one.aliases), name)


def _not_requested(
    request: Request, one: Registration, spec: DeviceSpec | None, named: bool
) -> Iterator[Reason]:
    by = str(request.source or "the request")
    what, got, asked = "device", one.device, tuple(map(str, request.devices))
    if request.devices and spec is None:
        data = _data(what=what, got=got, asked=asked, by=by)
        yield Reason("not-requested", data, source=request.source)
    elif request.backend is not None and not named:
        asked = (request.backend,)
        data = _data(what="backend", got=one.id, asked=asked, by=by)
        yield Reason("not-requested", data, source=request.source)


def _coverage(question: Question, index: int) -> Iterator[Reason]:
    found = next(missing(question, index), None)
    if found is not None:
        yield coverage_reason(question, index, *found)


def missing(question: Question, index: int) -> Iterator[tuple[Signature, int, Lack | None]]:
    """The nodes without a path on a backend: the signature, the place, and what lowering lacks.

    Where only claims decide, the first node of each signature.
    """
    if may_lower(question):
        program = question.program
        assert program is not None
        found = lowering_plan(question.registry, program, question.request, index)
        for number, lack in found.missing.items():
            yield lack.signature, number, lack
        return
    needs = question.requirements
    for place, signature in enumerate(needs.signatures):
        if not question.registry.coverage.claims(signature) >> index & 1:
            number = needs.first_nodes[place] if needs.first_nodes else place
            lowerable = question.registry.vocabulary.lowerable
            refused = question.request.kernel_dispatch == "native"
            told = refused and question.program is not None and signature.operation in lowerable
            yield signature, number, Lack(signature, NOT_LOWERED) if told else None


def coverage_reason(
    question: Question, index: int, signature: Signature, number: int, lack: Lack | None = None
) -> Reason:
    """Why the node at place `number` has no path on a backend, in the names that people know."""
    registry = question.registry
    node = find_node(question.program, number)
    miss = registry.coverage.explain(index, signature)
    fix = None
    if not signature.known and registry.vocabulary.get(signature.operation) is None:
        miss = Miss("undeclared", signature.operation)
        fix = (
            f"declare {signature.operation} in an Operations manifest, with a lowering: "
            "see docs/operations.md."
        )
    operand = miss.name
    if miss.kind == "ndim":
        operand = input_at(registry, miss.operation, miss.position)
    elif miss.kind == "type" and node is not None and question.program is not None:
        operand = operand_of_type(registry, question.program, node, miss.name, str(miss.got))
    data = _data(
        kind=miss.kind,
        node=node.name if node is not None else number,
        operation=miss.operation,
        operand=operand,
        got=miss.got,
        allowed=miss.allowed,
        beside=miss.beside,
        **_lowering(registry, index, lack),
    )
    return Reason("coverage", data, fix=fix, source=miss.origin)


def _lowering(registry: Registry, index: int, lack: Lack | None) -> dict[str, Any]:
    """What keeps a node from being lowered: a text, or the data of each kind of node it lacks."""
    if lack is None or not (lack.inner or lack.why):
        return {}
    if lack.why:
        return {"obstacle": lack.why}
    made = []
    for one in lack.inner:
        miss = registry.coverage.explain(index, one.signature)
        operand = miss.name
        if miss.kind == "ndim":
            operand = input_at(registry, miss.operation, miss.position)
        made.append(
            _data(
                kind=miss.kind,
                operation=miss.operation,
                operand=operand,
                got=miss.got,
                allowed=miss.allowed,
                beside=miss.beside,
                **_lowering(registry, index, one),
            )
        )
    return {"lowering": tuple(dict.fromkeys(made))}


def index_missing(one: Registration, spec: DeviceSpec | None) -> bool:
    """True where an index above 0 is asked of a backend that has no probe to ask about it."""
    return bool(spec and spec.index) and all(probe.kind != "call" for probe in one.probes)


def _facts(
    question: Question, one: Registration, spec: DeviceSpec | None, named: bool
) -> Iterator[Reason]:
    index = (spec.index if spec else None) or 0
    fact = question.facts.get((one.id, index), NO_FACT)
    fix, source = fact.fix or one.install, fact.source or one.origin
    if spec is not None and index_missing(one, spec):
        text = f"it has only index 0, index {index} was asked for"
        yield Reason(
            "unavailable",
            _data(reason=text),
            fix=f"ask for {spec.name}.",
            source=one.source("probes"),
        )
    elif fact.reason is not None:
        yield Reason("unavailable", _data(reason=fact.reason), fix=fix, source=source)
    if (one.software or fact.software) and spec is None and not named:
        yield Reason(
            "software-device",
            _data(device=one.device, detail=fact.detail),
            fix=f"ask for it: RLX_DEVICE={one.device}.",
            source=one.source("software") if one.software else source,
        )
    if fact.open_failure is not None:
        failure = _data(failure=fact.open_failure)
        if fact.compiling:
            failure += _data(compiling=True)
        yield Reason("open-failed", failure, fix=fix, source=one.source("factory"))


def _data(**items: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(items.items())
