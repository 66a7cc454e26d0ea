"""Running ONNX's suite and variants of its cases on backends: what passed, what failed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from rlx.backends.protocol import Backend
from rlx.conformance.cases import UNJUDGED, Case, allowed
from rlx.conformance.corpus import cornered, extreme, variants
from rlx.conformance.findings import Findings
from rlx.conformance.kept import kept
from rlx.conformance.literals.trials import trials as literal_trials
from rlx.conformance.subnormals import without
from rlx.conformance.trial import WRONG, Outcome, Runner, Trial
from rlx.errors import ProgramError
from rlx.program import load

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""
AT_ONCE = 128
"""How many trials are handed out together: while they run, the next are made."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """All that ran: findings per backend id, and the cases that no program could be made of."""

    findings: Mapping[str, Findings]
    refused: Mapping[str, str]


def measure(
    runners: Mapping[str, Runner],
    oracle: Backend,
    cases: Sequence[Case],
    progress: Progress,
    *,
    vary: bool = True,
    all_together: bool = True,
    also: Collection[str] = (),
    keep: Path | None = None,
    flushing: Collection[str] = (),
) -> Measurement:
    """Run each case, then variants of those with a single node, on every backend.

    With `all_together`, what passed runs once more beside the newest node that passed. `also` are
    operations whose literals run although no case is of them alone. What is made from cases is
    kept in the folder `keep`. Backends in `flushing` need not keep subnormal numbers apart from
    zero: what they answer wrongly to such inputs, they are asked again with zeros.
    """
    findings = {name: Findings() for name in runners}
    refused: dict[str, str] = {}
    singles: dict[str, list[Trial]] = {}
    literals = literal_trials()

    def suite() -> Iterator[Trial]:
        for done, case in enumerate(cases):
            progress("cases", done, len(cases))
            trial = read(case)
            if isinstance(trial, str):
                refused[case.name] = trial
                continue
            if trial.program.node_count == 1:
                operation = trial.program.requirements.signatures[0].operation
                singles.setdefault(operation, []).append(trial)
            yield trial

    def varied() -> Iterator[Trial]:
        operations = sorted({*singles, *also})
        for done, operation in enumerate(operations):
            progress(operation, done, len(operations))
            own = literals.get(operation, ())
            yield from own
            bases = singles.get(operation) or _alone(own)

            def make(operation: str = operation, bases: list[Trial] = bases) -> Iterator[Trial]:
                yield from variants(bases, oracle)
                yield from cornered(operation, oracle)
                yield from extreme(operation, oracle)

            yield from kept(keep, operation, [trial.name for trial in bases], make)

    def run(trials: Iterable[Trial]) -> None:
        for name, trial, outcome in _outcomes(runners, trials):
            again = None
            if outcome.status == WRONG and name in flushing:
                again = without(trial, oracle)
            findings[name].record(trial, outcome if again is None else runners[name].attempt(again))

    run(suite())
    if vary:
        run(varied())
        for name, runner in runners.items() if all_together else ():
            findings[name].hold_together(runner, partial(progress, f"{name}: together"))
    return Measurement(findings, refused)


def _alone(trials: Sequence[Trial]) -> list[Trial]:
    """Those of one node."""
    return [trial for trial in trials if trial.program.node_count == 1]


def read(case: Case) -> Trial | str:
    """The case as a trial; or why no program can be made of it."""
    model, inputs, expected = case.read()
    try:
        program = load(model)
    except ProgramError as error:
        return str(error)
    return Trial(case.name, program, inputs, expected, allowed(case, model))


def _outcomes(
    runners: Mapping[str, Runner], trials: Iterable[Trial]
) -> Iterator[tuple[str, Trial, Outcome]]:
    """Run what can be judged on all runners; while some trials run, the next are made."""
    source = iter(trials)
    running: list[tuple[str, list[Trial], Callable[[], list[Outcome]]]] = []
    for some in chain(iter(lambda: list(islice(source, AT_ONCE)), []), ([],)):
        judged = [trial for trial in some if trial.name not in UNJUDGED]
        started = [(name, judged, one.begin(judged)) for name, one in runners.items()]
        for name, made, outcomes in running:
            for trial, outcome in zip(made, outcomes(), strict=True):
                yield name, trial, outcome
        running = started


__all__ = ["Measurement", "Progress", "measure", "read"]
