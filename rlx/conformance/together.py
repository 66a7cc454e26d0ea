"""Whether claims go together: each node beside one that needs as new an opset as any claimed.

Coverage is asked node by node, yet an engine gets the whole program at one opset: a node that it
runs at opset 21 may be unknown to it at 28, where another node of the program needs that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import compose

from rlx.conformance.compare import Tolerance
from rlx.conformance.trial import Outcome, Runner, Trial
from rlx.program import CANONICAL_OPSET, Signature, load

Found = dict[Signature, Trial]
AT_ONCE = 128


@dataclass(frozen=True, slots=True, eq=False)
class Newest:
    """The newest opset that claims may need, and a trial that needs it."""

    opset: int
    trial: Trial
    fits_all: bool = False
    """True when every one of the suite's own cases that passed alone passes beside it."""


def newest(runner: Runner, passed: Found) -> Newest | None:
    """The opset that keeps the most of the suite's own cases; None where nothing passed.

    What needs a newer one is given up, and so is what fails beside a node that needs it.
    """
    best: tuple[int, Newest] | None = None
    suite = [trial for trial in passed.values() if "[" not in trial.name]
    for opset in sorted({level(trial) for trial in suite}, reverse=True):
        candidates = [trial for trial in suite if level(trial) <= opset]
        if best is not None and len(candidates) <= best[0]:
            break
        tried = Newest(opset, _plainest([t for t in candidates if level(t) == opset]))
        kept = sum(why is None for why in misfits(runner, candidates, tried))
        if best is None or kept > best[0]:
            best = kept, replace(tried, fits_all=kept == len(suite))
    return None if best is None else best[1]


def misfits(runner: Runner, trials: Sequence[Trial], beside_it: Newest) -> Iterator[str | None]:
    """For each trial that passed alone: why it does not go with all that is claimed, or None."""
    for start in range(0, len(trials), AT_ONCE):
        some = trials[start : start + AT_ONCE]
        fitting = [trial for trial in some if level(trial) <= beside_it.opset]
        outcomes = iter(runner.begin([beside(one, beside_it.trial) for one in fitting])())
        for trial in some:
            if level(trial) > beside_it.opset:
                yield f"it needs opset {level(trial)}, at which others fail"
            else:
                yield _failed(next(outcomes), beside_it)


def _failed(outcome: Outcome, beside_it: Newest) -> str | None:
    if outcome.passed:
        return None
    return f"it fails in a program that needs opset {beside_it.opset}: {outcome.detail}"


def level(trial: Trial) -> int:
    """The opset that the trial's program is handed to engines at."""
    for entry in trial.program.to_onnx().opset_import:
        if entry.domain in ("", "ai.onnx"):
            return int(entry.version)
    return 0


def _plainest(trials: Sequence[Trial]) -> Trial:
    """The trial to put beside others: arrays of NumPy's own dtypes, and few numbers."""
    return min(trials, key=lambda trial: (*_oddness(trial), trial.name))


def _oddness(trial: Trial) -> tuple[bool, int]:
    arrays = [value for value in (*trial.inputs, *trial.expected) if isinstance(value, np.ndarray)]
    plain = len(arrays) == len(trial.inputs) + len(trial.expected)
    own = all(array.dtype.isbuiltin == 1 and array.dtype != object for array in arrays)
    return not (plain and own), sum(array.size for array in arrays)


def beside(trial: Trial, partner: Trial) -> Trial:
    """Both in one program, unconnected."""
    first = trial.program.to_onnx(CANONICAL_OPSET)
    second = compose.add_prefix(partner.program.to_onnx(CANONICAL_OPSET), "partner/")
    union = onnx.ModelProto()
    union.CopyFrom(first)
    for name in ("node", "initializer", "input", "output"):
        getattr(union.graph, name).extend(getattr(second.graph, name))
    domains = {entry.domain for entry in union.opset_import}
    union.opset_import.extend(e for e in second.opset_import if e.domain not in domains)
    return Trial(
        f"{trial.name} beside {partner.name}",
        load(union),
        [*trial.inputs, *partner.inputs],
        [*trial.expected, *partner.expected],
        _looser(trial.tolerance, partner.tolerance),
    )


def _looser(a: Tolerance, b: Tolerance) -> Tolerance:
    """Both passed alone; what is asked here is whether the engine takes them together."""
    return Tolerance(max(a.rtol, b.rtol), max(a.atol, b.atol), a.scaled or b.scaled)
