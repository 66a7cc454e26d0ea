"""From measuring backends to their coverage files, and from the files to what is wrong in them."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rlx.conformance.blame import blame
from rlx.conformance.cases import Case, load_cases, operations_of
from rlx.conformance.claims import Claims, claim
from rlx.conformance.document import render
from rlx.conformance.measure import Findings, Progress, measure
from rlx.conformance.synthesis import Claim
from rlx.device import DeviceSpec
from rlx.errors import UnknownBackend
from rlx.operations import Vocabulary, generate
from rlx.registration import Registration, Row
from rlx.registries import Registry
from rlx.resources import configs
from rlx.session.opening import open_backend

ORACLE = "reference"


@dataclass(frozen=True, slots=True)
class Result:
    """What one backend showed."""

    registration: Registration
    version: str
    findings: Findings
    claims: Claims
    refused: int
    """How many cases no program could be made of."""


def measure_all(
    ids: Sequence[str], operations: Sequence[str] | None, progress: Progress
) -> list[Result]:
    """Measure these backends, opened by their factories: no router, no coverage.

    The oracle is measured by the suite's own expected values alone, for it can't judge itself.

    Raises:
        UnknownBackend: no backend has one of the ids.
    """
    registry = Registry.load()
    registrations = [_registration(registry, name) for name in ids]
    spec = DeviceSpec("cpu", 0)
    opened = {one.id: open_backend(one, DeviceSpec(one.device, 0)) for one in registrations}
    oracle = open_backend(_registration(registry, ORACLE), spec)
    vocabulary = Vocabulary(generate.operations(), generate.opset())
    progress("reading the suite", 0, 1)
    cases = _about(load_cases(), operations)
    results = []
    judged = {name: backend for name, backend in opened.items() if name != ORACLE}
    own = {name: backend for name, backend in opened.items() if name == ORACLE}
    for group, vary in ((judged, True), (own, False)):
        if not group:
            continue
        measured = measure(group, oracle, cases, progress, vary=vary)
        for name, backend in group.items():
            findings = measured.findings[name]
            claims = claim(findings, vocabulary, partial(blame, backend))
            registration = _registration(registry, name)
            results.append(
                Result(registration, backend.version, findings, claims, len(measured.refused))
            )
    for backend in (*opened.values(), oracle):
        backend.close()
    return results


def _registration(registry: Registry, name: str) -> Registration:
    found = registry.get(name)
    if found is None:
        raise UnknownBackend(f"no backend is registered as {name!r}")
    return found


def _about(cases: Iterable[Case], operations: Sequence[str] | None) -> list[Case]:
    if not operations:
        return list(cases)
    wanted = set(operations)
    return [case for case in cases if operations_of(case.read()[0]) & wanted]


def write(result: Result) -> Path:
    """Write the backend's coverage file; the place is the one its registration names."""
    name = result.registration.id
    path = configs() / "coverage" / f"{name}.yaml"
    engine = f"{name} {result.version}"
    text = render(name, engine, f"{sys.platform} {platform.machine()}", result.claims)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def summary(result: Result, *, verbose: bool) -> tuple[str, int]:
    """What to print, and how many findings there are: failed claims and unclaimed successes."""
    stated = [as_claim(row) for row in result.registration.coverage.rows for _ in row.operations]
    names = [name for row in result.registration.coverage.rows for name in row.operations]
    file = Claims(_grouped(zip(names, stated, strict=True)))
    failed = [(s, why) for s, why in result.findings.failed.items() if file.covers(s)]
    missed = [
        (s, trial.name)
        for s, trial in result.findings.passed.items()
        if result.claims.covers(s) and not file.covers(s)
    ]
    operations = result.claims.by_operation
    lines = [
        f"{result.registration.id} {result.version}: {len(operations)} operations, "
        f"{len(result.findings.passed)} signatures passed, {len(result.findings.failed)} did not; "
        f"of the claims in force {len(failed)} failed, {len(missed)} successes are not claimed"
    ]
    lines += [f"  {note}" for note in result.claims.notes]
    if verbose:
        lines += [f"  claim failed: {s.operation} {dict(s.types)}: {why}" for s, why in failed]
        lines += [f"  not claimed: {s.operation} {dict(s.types)}: {name}" for s, name in missed]
    return "\n".join(lines), len(failed) + len(missed)


def as_claim(row: Row) -> Claim:
    """A coverage row of the registry as a claim."""
    return Claim(row.types, row.attributes, row.ndim)


def _grouped(pairs: Iterable[tuple[str, Claim]]) -> dict[str, tuple[Claim, ...]]:
    found: dict[str, tuple[Claim, ...]] = {}
    for name, one in pairs:
        found[name] = (*found.get(name, ()), one)
    return found
