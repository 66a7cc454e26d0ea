"""Running ONNX's suite and variants of its cases on backends: what passed, what failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rlx.backends.protocol import Backend
from rlx.conformance.cases import Case, allowed
from rlx.conformance.compare import Tolerance
from rlx.conformance.trial import Outcome, Trial, attempt, evaluate
from rlx.conformance.vary import Variant, attribute_values, attribute_variants, type_variants
from rlx.errors import ProgramError
from rlx.program import CANONICAL_OPSET, Signature, load

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""
PER_SIGNATURE = 3
"""How many variants with one signature are run: beyond, they tell little more."""


@dataclass(eq=False)
class Findings:
    """What one backend did: per signature of single nodes, and per program of several."""

    passed: dict[Signature, str] = field(default_factory=dict)
    """Each signature that gave the right answer alone, and a trial that shows it."""
    failed: dict[Signature, str] = field(default_factory=dict)
    """Each signature that did not, and why."""
    whole: list[tuple[Trial, Outcome]] = field(default_factory=list)
    """Programs of several nodes: the check on the claims."""

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Keep one outcome."""
        signatures = trial.program.requirements.signatures
        if len(signatures) > 1 or trial.program.node_count != 1:
            self.whole.append((trial, outcome))
        elif outcome.passed:
            self.passed.setdefault(signatures[0], trial.name)
        else:
            self.failed.setdefault(signatures[0], f"{trial.name}: {outcome.detail}")


@dataclass(frozen=True, slots=True)
class Measurement:
    """All that ran: findings per backend id, and the cases that no program could be made of."""

    findings: Mapping[str, Findings]
    refused: Mapping[str, str]


def measure(
    backends: Mapping[str, Backend],
    oracle: Backend,
    cases: Sequence[Case],
    progress: Progress,
    *,
    vary: bool = True,
) -> Measurement:
    """Run each case, then variants of those with a single node, on every backend."""
    findings = {name: Findings() for name in backends}
    refused: dict[str, str] = {}
    singles: dict[str, list[Trial]] = {}
    for done, case in enumerate(cases):
        progress("cases", done, len(cases))
        model, inputs, expected = case.read()
        try:
            program = load(model)
        except ProgramError as error:
            refused[case.name] = str(error)
            continue
        trial = Trial(case.name, program, inputs, expected, allowed(case, model))
        for name, backend in backends.items():
            findings[name].record(trial, attempt(backend, trial))
        if program.node_count == 1:
            operation = program.requirements.signatures[0].operation
            singles.setdefault(operation, []).append(trial)
    for done, (operation, trials) in enumerate(sorted(singles.items()) if vary else ()):
        progress(operation, done, len(singles))
        for trial in variants(trials, oracle):
            for name, backend in backends.items():
                findings[name].record(trial, attempt(backend, trial))
    return Measurement(findings, refused)


def variants(trials: Sequence[Trial], oracle: Backend) -> Iterator[Trial]:
    """New trials of one operation; the oracle says what must come out, or that nothing can."""
    seen: dict[Signature, int] = {}
    for trial in trials:
        (signature,) = trial.program.requirements.signatures
        seen[signature] = PER_SIGNATURE
    models = [trial.program.to_onnx(CANONICAL_OPSET) for trial in trials]
    plain = [len(model.graph.node) == 1 and not model.graph.initializer for model in models]
    bases = [
        pair for pair, fits in zip(zip(trials, models, strict=True), plain, strict=True) if fits
    ]
    values = attribute_values(model for _, model in bases)
    for trial, model in bases:
        inputs = tuple(trial.inputs)
        found: Iterable[Variant] = (
            *attribute_variants(model, inputs, values),
            *type_variants(model, inputs),
        )
        for variant in found:
            made = _judged(f"{trial.name}[{variant.label}]", variant, oracle, seen)
            if made is not None:
                yield made


def _judged(
    name: str, variant: Variant, oracle: Backend, seen: dict[Signature, int]
) -> Trial | None:
    """The variant with the oracle's answer; None where there is none, or enough alike ran."""
    try:
        program = load(variant.model)
    except ProgramError:
        return None  # the schema or inference refuses this combination: nothing to learn
    (signature,) = program.requirements.signatures
    if not signature.known or seen.get(signature, 0) >= PER_SIGNATURE:
        return None
    seen[signature] = seen.get(signature, 0) + 1
    try:
        expected = evaluate(oracle, program, variant.inputs)
    except Exception:  # noqa: BLE001 - an oracle that can't answer judges nobody
        return None
    return Trial(name, program, variant.inputs, expected, Tolerance(scaled=True))


__all__ = ["Findings", "Measurement", "Progress", "measure", "variants"]
