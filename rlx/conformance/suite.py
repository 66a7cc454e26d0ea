"""ONNX's suite through the router: every case passes, or is refused before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

from rlx.conformance.cases import UNJUDGED, Case
from rlx.conformance.measure import AT_ONCE, Progress, read
from rlx.conformance.routed import REFUSED
from rlx.conformance.trial import CRASH, HANG, PASSED, WRONG, Outcome, Trial

PROGRAM = "program"
"""The code of a case that no program could be made of."""


class RoutedRunner(Protocol):
    """Runs trials by a session that asks for the backend by its id."""

    def begin_routed(self, trials: Sequence[Trial]) -> Callable[[], list[Outcome]]:
        """Start these trials; what is returned waits for their outcomes, in the same order."""
        ...


@dataclass(slots=True)
class Tally:
    """What became of each case; `wrong`, `crash` and `hang` must stay empty."""

    passed: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """By case, the code of the reason: `coverage`, `capability` …, `program`."""
    unjudged: list[str] = field(default_factory=list)
    """Cases that ran, and that ONNX's own runner can't judge."""
    wrong: dict[str, str] = field(default_factory=dict)
    """By case, what was promised and not held."""
    crash: dict[str, str] = field(default_factory=dict)
    hang: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many cases ran."""
        return sum(map(len, (self.passed, self.refused, self.unjudged, *self.broken.values())))

    @property
    def cases(self) -> Iterator[str]:
        """The names of all cases."""
        return chain(self.passed, self.refused, self.unjudged, *self.broken.values())

    @property
    def broken(self) -> Mapping[str, dict[str, str]]:
        """What must not be: by verdict, the cases and why."""
        return {WRONG: self.wrong, CRASH: self.crash, HANG: self.hang}

    def add(self, case: str, outcome: Outcome) -> None:
        """Note one outcome."""
        if outcome.status == REFUSED:
            self.refused[case] = outcome.detail
        elif case in UNJUDGED and outcome.status in (PASSED, WRONG):
            self.unjudged.append(case)
        elif outcome.passed:
            self.passed.append(case)
        else:
            self.broken[outcome.status][case] = outcome.detail

    def __str__(self) -> str:
        codes = Counter(self.refused.values())
        detail = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
        ends = "".join(f", {len(found)} {what}" for what, found in self.broken.items())
        return (
            f"{self.total} cases: {len(self.passed)} passed, "
            f"{len(self.refused)} refused ({detail or 'none'}){ends}"
        )


def run_suite(
    runners: Mapping[str, RoutedRunner], cases: Sequence[Case], progress: Progress
) -> dict[str, Tally]:
    """Run each case on each backend as a user would."""
    tallies = {name: Tally() for name in runners}
    running: list[tuple[Tally, list[Trial], Callable[[], list[Outcome]]]] = []
    for start in (*range(0, len(cases), AT_ONCE), len(cases)):
        progress("through the router", start, len(cases))
        trials = list(_readable(cases[start : start + AT_ONCE], tallies.values()))
        started = [
            (tallies[name], trials, one.begin_routed(trials)) for name, one in runners.items()
        ]
        for tally, made, outcomes in running:
            for trial, outcome in zip(made, outcomes(), strict=True):
                tally.add(trial.name, outcome)
        running = started
    return tallies


def _readable(cases: Iterable[Case], tallies: Iterable[Tally]) -> Iterator[Trial]:
    for case in cases:
        trial = read(case)
        if isinstance(trial, Trial):
            yield trial
            continue
        for tally in tallies:
            tally.add(case.name, Outcome(REFUSED, PROGRAM))
