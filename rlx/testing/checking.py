"""The conformance kit: a backend's claims and promises, held against what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from rlx.backends.protocol import Backend
from rlx.conformance.blame import blame
from rlx.conformance.cases import UNJUDGED, Case, allowed, load_cases, operations_of
from rlx.conformance.claims import RANDOM, claim
from rlx.conformance.compare import difference
from rlx.conformance.findings import Findings
from rlx.conformance.measure import measure
from rlx.conformance.trial import Here, Trial, evaluate, guarded
from rlx.device import DeviceSpec
from rlx.errors import (
    ExecutionError,
    NoBackend,
    ProgramError,
    RlxError,
    UnknownBackend,
    printable,
)
from rlx.program import Signature, load
from rlx.registration import Registration
from rlx.registries import Registry
from rlx.session import Session
from rlx.session.default import ANYTHING, default_registry
from rlx.session.opening import open_backend
from rlx.session.selection import open_best
from rlx.testing.own_cases import OWN
from rlx.testing.promises import broken
from rlx.testing.report import Report


def check_backend(
    backend: str | Registration,
    *,
    registry: Registry | None = None,
    cases: Iterable[Case] | None = None,
    operations: Iterable[str] | None = None,
    vary: bool = True,
) -> Report:
    """Open a backend as a user would, and hold what it claims and promises against what it does.

    `backend` is an id of the registry (by default the process's own, with what plugins register),
    or a registration. The cases are those of ONNX's suite that are made of `operations` (by
    default: all that it claims), or `cases` instead; unless `vary` is False, their dtypes and
    attributes are varied, and the oracle says what must come out. A large coverage takes minutes.

    Raises:
        UnknownBackend: no backend has the id.
        NoBackend, OpenFailed, ContractError: it can't be used here; with the reasons.
    """
    held, one = _registered(backend, default_registry() if registry is None else registry)
    index = next(i for i, other in enumerate(held.registrations) if other.id == one.id)
    claimed = {name for row in one.coverage.rows for name in row.operations}
    wanted = claimed if operations is None else set(operations)

    def covers(signature: Signature) -> bool:
        return bool(held.coverage.claims(signature) >> index & 1)

    report: Report | None = None
    try:
        with (
            Session(backend=one.id, registry=held) as session,
            open_best(held, ANYTHING, session.request)[1] as lease,
            closing(_oracle(held, one.id)) as oracle,
        ):
            chosen = _suite(wanted) if cases is None else [_answered(c, oracle) for c in cases]
            measured = measure({one.id: Here(lease.backend)}, oracle, chosen, _quiet, vary=vary)
            found = measured.findings[one.id]
            failed = [*_claims_that_fail(found, covers), *_through_a_session(session, chosen)]
            failed += [f"{name}: no program can be made of it: {why}"
                       for name, why in measured.refused.items() if cases is not None]  # fmt: skip
            report = Report(
                one.id,
                lease.backend.version,
                len({*found.passed, *found.failed}),
                tuple(broken(one, lease.spec, _one_of_each(found))),
                tuple(dict.fromkeys(failed)),
                tuple(_successes(found, held, lease.backend, covers)),
                tuple(sorted(claimed & wanted - _tried(found))),
            )
    except ExecutionError as error:
        if report is None:
            raise
        return replace(report, broken=(*report.broken, error.message))
    return report


def _registered(backend: str | Registration, registry: Registry) -> tuple[Registry, Registration]:
    held = registry
    if isinstance(backend, Registration):
        held = registry.with_backend(backend, replace=True)
        backend = backend.id
    found = held.get(backend)
    if found is None:
        known = ", ".join(one.id for one in held.registrations)
        message = f"no backend {printable(backend)!r} is registered"
        raise UnknownBackend(message, fix=f"choose one of: {known}.")
    return held, found


def _oracle(registry: Registry, judged: str) -> Backend:
    for one in registry.registrations:
        if one.reference_oracle and one.id != judged:
            return open_backend(one, DeviceSpec(one.device, 0))
    raise UnknownBackend(
        f"no reference oracle is registered that could judge {judged}",
        fix="give a registry that has the packaged backend reference.",
    )


def _suite(operations: set[str]) -> list[Case]:
    """ONNX's cases that are made of these operations alone."""
    return [
        case
        for case in load_cases(("node", "simple"))
        if operations_of(case.read()[0]) <= operations
    ]


def _answered(case: Case, oracle: Backend) -> Case:
    """A case of the author's own, with the oracle's answer where none was given."""
    if case.kind != OWN:
        return case
    model, inputs, _ = case.read()
    expected = evaluate(oracle, load(model), inputs)
    return replace(case, read=lambda: (model, inputs, expected))


def _quiet(_what: str, _done: int, _total: int) -> None:
    """A test says nothing of its progress."""


def _claims_that_fail(found: Findings, covers: Callable[[Signature], bool]) -> Iterator[str]:
    for signature, why in found.failed.items():
        if covers(signature):
            yield f"{_named(signature)}: {why}"
    for trial, outcome in found.whole:
        if not outcome.passed and all(map(covers, trial.program.requirements.signatures)):
            yield f"{trial.name}: {outcome.detail}"


def _through_a_session(session: Session, cases: Sequence[Case]) -> Iterator[str]:
    """What is claimed runs for a user, too: routed, checked, compiled and copied out."""
    for case in cases:
        model, inputs, expected = case.read()
        try:
            program = load(model)
            with closing(session.compile(program)) as compiled:
                outputs = list(compiled(*map(guarded, inputs)))
        except (ProgramError, NoBackend):
            continue  # it is no program, or nothing that is claimed
        except RlxError as error:
            yield f"{case.name} in a session: {error.message}"
            continue
        wrong = difference(expected, outputs, allowed(case, model))
        if wrong is not None and case.name not in UNJUDGED:
            yield f"{case.name} in a session: {wrong}"


def _successes(
    found: Findings, registry: Registry, backend: Backend, covers: Callable[[Signature], bool]
) -> Iterator[str]:
    """What could be claimed, by the rules by which rlx writes coverage files, and is not."""
    able = claim(found, registry.vocabulary, partial(blame, Here(backend)))
    named: dict[str, str] = {}
    for signature, trial in found.passed.items():
        if signature.operation not in RANDOM and able.covers(signature) and not covers(signature):
            named.setdefault(_named(signature), trial.name)
    for what, name in sorted(named.items()):
        yield f"{what}: {name}"


def _one_of_each(found: Findings) -> list[Trial]:
    """One program of each operation that gave the right answer."""
    first = {s.operation: trial for s, trial in reversed(found.passed.items())}
    return [first[name] for name in sorted(first)]


def _tried(found: Findings) -> set[str]:
    whole = (s for trial, _ in found.whole for s in trial.program.requirements.signatures)
    return {signature.operation for signature in (*found.passed, *found.failed, *whole)}


def _named(signature: Signature) -> str:
    """`Add (T float32)`."""
    types = ", ".join(f"{variable} {dtype}" for variable, dtype in signature.types)
    return f"{signature.operation} ({types})" if types else signature.operation
