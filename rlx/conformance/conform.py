"""From measuring backends to what is wrong with their claims, and to their coverage files."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

from rlx.conformance.blame import blame
from rlx.conformance.cases import Case, load_cases, operations_of
from rlx.conformance.claims import Claims, claim
from rlx.conformance.document import render
from rlx.conformance.findings import Findings
from rlx.conformance.measure import Progress, measure
from rlx.conformance.pool import Pool
from rlx.conformance.suite import Tally, run_suite
from rlx.conformance.synthesis import Claim
from rlx.conformance.verdicts import Verdicts, judge
from rlx.device import DeviceSpec
from rlx.errors import UnknownBackend
from rlx.operations import Vocabulary, generate
from rlx.registration import Coverage, Registration
from rlx.registries import Registry
from rlx.session.default import load_registry
from rlx.session.opening import open_backend

ORACLE = "reference"


@dataclass(frozen=True, slots=True)
class Result:
    """What one backend showed."""

    registration: Registration
    version: str
    findings: Findings
    claims: Claims
    """What the trials support."""
    verdicts: Verdicts
    """What they say about the claims in force."""
    suite: Tally
    """ONNX's cases through the router."""
    flukes: tuple[str, ...] = ()
    """Trials that ended a process once, and not when they were run again."""

    @property
    def engine(self) -> str:
        """The engine and its version."""
        return f"{self.registration.id} {self.version}"

    def coverage(self) -> str:
        """The text of the coverage file that the trials support."""
        return render(self.registration.id, self.engine, platform_name(), self.claims)


def platform_name() -> str:
    """Where the trials ran."""
    return f"{sys.platform} {platform.machine()}"


def conform(
    ids: Sequence[str],
    progress: Progress,
    *,
    operations: Sequence[str] = (),
    config: Sequence[str] = (),
    jobs: int = 1,
) -> list[Result]:
    """Measure these backends, each in child processes of its own; no router, no coverage.

    Then ONNX's cases run once more, as a user would run them. With `operations`, only cases that
    are made of them, and nothing is held together with all else that is claimed. The oracle is
    measured by the suite's own expected values alone, for it can't judge itself.

    Raises:
        UnknownBackend: no backend has one of the ids.
        OpenFailed: one could not be opened.
    """
    registry = load_registry(tuple(config))
    registrations = {name: registered(registry, name) for name in ids}
    progress("reading the suite", 0, 1)
    cases = about(load_cases(), operations)
    vocabulary = Vocabulary(generate.operations(), generate.opset())
    spec = DeviceSpec("cpu", 0)
    found: dict[str, Result] = {}
    with ExitStack() as stack:
        oracle = stack.enter_context(closing(open_backend(registered(registry, ORACLE), spec)))
        pools = {name: stack.enter_context(Pool(name, config, jobs)) for name in registrations}
        groups = (
            ({name: pool for name, pool in pools.items() if name != ORACLE}, True),
            ({name: pool for name, pool in pools.items() if name == ORACLE}, False),
        )
        tallies = run_suite(pools, cases, progress)
        for group, vary in groups:
            if not group:
                continue
            whole = not operations
            measured = measure(group, oracle, cases, progress, vary=vary, all_together=whole)
            for name, pool in group.items():
                findings = measured.findings[name]
                progress(f"{name}: claims", 0, 1)
                claims = claim(findings, vocabulary, partial(blame, pool))
                inforce = in_force(registrations[name].coverage)
                verdicts = judge(findings, inforce.covers, claims.covers)
                found[name] = Result(
                    registrations[name],
                    pool.version,
                    findings,
                    claims,
                    verdicts,
                    tallies[name],
                    tuple(pool.flukes),
                )
    return [found[name] for name in ids]


def registered(registry: Registry, name: str) -> Registration:
    """The backend's registration.

    Raises:
        UnknownBackend: there is none.
    """
    found = registry.get(name)
    if found is None:
        known = ", ".join(one.id for one in registry.registrations)
        raise UnknownBackend(
            f"no backend is registered as {name!r}", fix=f"choose one of: {known}."
        )
    return found


def about(cases: Iterable[Case], operations: Sequence[str]) -> list[Case]:
    """The cases that are made of these operations alone; without operations, all."""
    if not operations:
        return list(cases)
    wanted = set(operations)
    return [case for case in cases if operations_of(case.read()[0]) <= wanted]


def in_force(coverage: Coverage) -> Claims:
    """The rows of a registration as claims."""
    found: dict[str, tuple[Claim, ...]] = {}
    for row in coverage.rows:
        one = Claim(row.types, row.attributes, row.ndim)
        for name in row.operations:
            found[name] = (*found.get(name, ()), one)
    return Claims(found)
