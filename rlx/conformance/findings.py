"""What one backend did: which signatures passed alone, which did not, and whole programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rlx.conformance.extremes import SPECIAL
from rlx.conformance.together import misfits, newest
from rlx.conformance.trial import DECLINED, RAISED, Outcome, Runner, Trial
from rlx.program import Signature


@dataclass(frozen=True, slots=True)
class Record:
    """What one trial did: all that is kept of most trials."""

    case: str
    signatures: tuple[Signature, ...]
    outcome: Outcome


@dataclass(eq=False)
class Findings:
    """What one backend did: per signature of single nodes, and per program of several."""

    passed: dict[Signature, Trial] = field(default_factory=dict)
    """Each signature that gave the right answer alone, and the first trial that shows it."""
    failed: dict[Signature, str] = field(default_factory=dict)
    """Each signature that did not, and why."""
    by_value: set[Signature] = field(default_factory=set)
    """Those that failed for the values in their inputs: however many axes there are, they would."""
    whole: list[tuple[Trial, Outcome]] = field(default_factory=list)
    """Programs of several nodes: the check on the claims."""
    records: list[Record] = field(default_factory=list)
    """Every trial, in order."""
    apart: dict[Signature, str] = field(default_factory=dict)
    """Each signature that passed alone, but not beside what else is claimed, and why."""

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Keep one outcome."""
        signatures = tuple(trial.program.requirements.signatures)
        self.records.append(Record(trial.name, signatures, outcome))
        if outcome.status == DECLINED:
            return  # another device of its kind may be large enough: it tells nothing of the claim
        if len(signatures) > 1 or trial.program.node_count != 1:
            self.whole.append((trial, outcome))
        elif outcome.passed:
            self.passed.setdefault(signatures[0], trial)
        else:
            self.failed.setdefault(signatures[0], f"{trial.name}: {outcome.detail}")
            if SPECIAL in trial.name:
                self.by_value.add(signatures[0])

    def hold_together(self, runner: Runner, progress: Callable[[int, int], None]) -> None:
        """Turn into failures what passed alone, but not in one program with all that is claimed.

        Where every case of the suite fits, the engine does not mind, and no variant is tried.
        """
        standing = {s: trial for s, trial in self.passed.items() if s not in self.failed}
        beside_it = newest(runner, standing)
        if beside_it is None or beside_it.fits_all:
            return
        reasons = misfits(runner, list(standing.values()), beside_it)
        for done, (signature, why) in enumerate(zip(standing, reasons, strict=True)):
            progress(done, len(standing))
            if why is not None:
                self.apart[signature] = f"{standing[signature].name}: {why}"
        self.failed.update(self.apart)
        places = [place for place, (_, outcome) in enumerate(self.whole) if outcome.passed]
        reasons = misfits(runner, [self.whole[place][0] for place in places], beside_it)
        for place, why in zip(places, reasons, strict=True):
            if why is not None:
                self.whole[place] = self.whole[place][0], Outcome(RAISED, why)
