"""From measuring backends to what is wrong with their claims, and to their coverage files."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random

from rlx.conformance.blame import blame
from rlx.conformance.cases import Case, load_cases, operations_of
from rlx.conformance.claims import Claims, claim
from rlx.conformance.document import render
from rlx.conformance.findings import Findings
from rlx.conformance.literals.trials import trials as literal_trials
from rlx.conformance.measure import Progress, measure
from rlx.conformance.measured import Measured
from rlx.conformance.measured import keep as keep_measured
from rlx.conformance.measured import kept as kept_measured
from rlx.conformance.pool import Pool
from rlx.conformance.subnormals import CAPABILITY as SUBNORMALS
from rlx.conformance.suite import Tally, run_suite
from rlx.conformance.synthesis import Claim
from rlx.conformance.verdicts import Verdicts, judge
from rlx.device import DeviceSpec
from rlx.errors import OpenFailed, SettingError, UnknownBackend
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
    flukes: tuple[str, ...] = ()
    """Trials that ended a process once, and not when they were run again."""
    suite: Tally = field(default_factory=Tally)
    """ONNX's cases through the router."""

    @property
    def engine(self) -> str:
        """The engine and its version."""
        return f"{self.registration.id} {self.version}"

    @property
    def measured(self) -> Measured:
        """What is kept of it until it is written."""
        records, apart = tuple(self.findings.records), self.findings.apart
        return Measured(self.version, records, apart, self.claims, self.flukes)

    def coverage(self, *, packaged: bool) -> str:
        """The text of the coverage file that the trials support."""
        name = self.registration.id
        return render(name, self.engine, platform_name(), self.claims, packaged=packaged)


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
    settle: Callable[[Sequence[Result]], None] | None = None,
    keep: Path | None = None,
    holding: Path | None = None,
) -> list[Result]:
    """Measure these backends, each in child processes of its own; no router, no coverage.

    Then ONNX's cases run once more, as a user would run them. With `operations`, only cases that
    are made of them, and nothing is held together with all else that is claimed. The oracle is
    measured by the suite's own expected values alone, for it can't judge itself. `settle` may
    change the claims in force to those that were measured, before the cases run once more. Trials
    are kept in the folder `keep` for the next run; before `settle`, what was measured in `holding`,
    for `resume`.

    Raises:
        UnknownBackend: no backend has one of the ids.
        OpenFailed: one could not be opened.
        OSError: what was measured can't be kept in `holding`.
    """
    registry = load_registry(tuple(config))
    registrations = {name: registered(registry, name) for name in ids}
    progress("reading the suite", 0, 1)
    cases = about(load_cases(), operations)
    vocabulary = Vocabulary(generate.operations(), generate.opset())
    spec = DeviceSpec("cpu", 0)
    flushing = {name for name, one in registrations.items() if SUBNORMALS not in one.capabilities}
    found: dict[str, Result] = {}
    with ExitStack() as stack:
        oracle = stack.enter_context(closing(open_backend(registered(registry, ORACLE), spec)))
        pools = {name: stack.enter_context(Pool(name, config, jobs)) for name in registrations}
        groups = (
            ({name: pool for name, pool in pools.items() if name != ORACLE}, True),
            ({name: pool for name, pool in pools.items() if name == ORACLE}, False),
        )
        for group, vary in groups:
            if not group:
                continue
            whole = not operations
            measured = measure(
                group,
                oracle,
                cases,
                progress,
                vary=vary,
                all_together=whole,
                also=tuple(operations or literal_trials()),
                keep=keep,
                flushing=flushing,
            )
            for name, pool in group.items():
                progress(f"{name}: claims", 0, 1)
                findings = measured.findings[name]
                claims = claim(findings, vocabulary, partial(blame, pool))
                inforce = in_force(registrations[name].coverage)
                verdicts = judge(findings, inforce.covers, claims.covers)
                flukes = tuple(pool.flukes)
                found[name] = Result(
                    registrations[name], pool.version, findings, claims, verdicts, flukes
                )
        if settle is None:
            return _routed(found, pools, ids, cases, progress)
    if holding is not None:
        for name, one in found.items():
            keep_measured(holding, name, one.measured)
    return _settled(found, ids, cases, progress, config, jobs, settle)


def resume(
    ids: Sequence[str],
    progress: Progress,
    *,
    config: Sequence[str] = (),
    jobs: int = 1,
    settle: Callable[[Sequence[Result]], None],
    holding: Path,
) -> list[Result]:
    """As `conform` from `settle` on, with what it has kept in the folder `holding`.

    Raises:
        UnknownBackend: no backend has one of the ids.
        SettingError: nothing is kept of one.
        OpenFailed: one could not be opened, or is not of the version that was measured.
    """
    registry = load_registry(tuple(config))
    found = {name: _resumed(registered(registry, name), holding) for name in ids}
    progress("reading the suite", 0, 1)
    return _settled(found, ids, load_cases(), progress, config, jobs, settle)


def _resumed(registration: Registration, holding: Path) -> Result:
    name = registration.id
    one = kept_measured(holding, name)
    if one is None:
        raise SettingError(
            f"nothing that was measured of {name} is kept in {holding}",
            fix="measure it: run `rlx conform --write` without `--resume`.",
        )
    verdicts = judge(one.findings, one.claims.covers, one.claims.covers)
    return Result(registration, one.version, one.findings, one.claims, verdicts, one.flukes)


def _settled(
    found: Mapping[str, Result],
    ids: Sequence[str],
    cases: Sequence[Case],
    progress: Progress,
    config: Sequence[str],
    jobs: int,
    settle: Callable[[Sequence[Result]], None],
) -> list[Result]:
    """The results once their claims are in force."""
    settle([found[name] for name in ids])
    with ExitStack() as stack:
        pools = {name: stack.enter_context(Pool(name, config, jobs)) for name in ids}
        for name, pool in pools.items():
            if pool.version != found[name].version:
                raise OpenFailed(
                    f"{name} is {pool.version} here, {found[name].version} was measured",
                    fix="measure it: run `rlx conform --write` without `--resume`.",
                )
        written = {
            name: replace(one, verdicts=judge(one.findings, one.claims.covers, one.claims.covers))
            for name, one in found.items()
        }
        return _routed(written, pools, ids, cases, progress)


def _routed(
    found: Mapping[str, Result],
    pools: Mapping[str, Pool],
    ids: Sequence[str],
    cases: Sequence[Case],
    progress: Progress,
) -> list[Result]:
    """The results with what became of ONNX's cases, run as a user would run them."""
    tallies = run_suite(pools, cases, progress)
    return [replace(found[name], suite=tallies[name]) for name in ids]


def drawn(
    ids: Sequence[str], among: Sequence[str], count: int, seed: int, config: Sequence[str] = ()
) -> tuple[str, ...]:
    """So many operations that one of the backends claims, drawn by a seed; with `among`, of them.

    Raises:
        UnknownBackend: no backend has one of the ids.
    """
    registry = load_registry(tuple(config))
    coverages = [registered(registry, name).coverage for name in ids]
    claimed = {name for one in coverages for row in one.rows for name in row.operations}
    names = sorted(claimed & set(among) if among else claimed)
    return tuple(Random(seed).sample(names, min(count, len(names))))


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
