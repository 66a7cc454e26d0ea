"""The claims of a whole backend: from its findings, held against every program that failed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rlx.conformance.blame import Blame
from rlx.conformance.findings import Findings
from rlx.conformance.synthesis import Claim, Evidence, synthesize
from rlx.conformance.trial import Trial
from rlx.conformance.vary import FREE_TEXT
from rlx.operations.vocabulary import Operation, Vocabulary
from rlx.program import Signature

RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"}
    | {"RandomUniform", "RandomUniformLike"}
)
"""Operations that no run can prove."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a backend may claim per operation, and what was noticed on the way."""

    by_operation: Mapping[str, tuple[Claim, ...]]
    notes: tuple[str, ...] = field(default=())

    def covers(self, signature: Signature) -> bool:
        """Whether some claim covers a node with this signature."""
        return any(
            claim.covers(signature) for claim in self.by_operation.get(signature.operation, ())
        )


def claim(findings: Findings, vocabulary: Vocabulary, find: Callable[[Trial], Blame]) -> Claims:
    """Claim what passed; then, while a program that is covered fails, find the node and drop it.

    A program of several nodes that passed is evidence for each of its nodes. One that failed is
    blamed on the nodes that differ from the oracle when run alone; where none does, and errors only
    add up, on the inexact node that is in the fewest programs that passed. What failed for the
    values in its inputs is claimed for no number of axes.
    """
    passed, failed = set(findings.passed), set(findings.failed)
    for trial, outcome in findings.whole:
        if outcome.passed:
            passed.update(trial.program.requirements.signatures)
    by_value = {_valued(signature) for signature in findings.by_value}
    failed |= {signature for signature in passed if _valued(signature) in by_value}
    notes: list[str] = []
    made: dict[str, _Made] = {}
    while True:
        claims = Claims(_synthesized(passed, failed, vocabulary, made))
        wrong = [
            (trial, outcome)
            for trial, outcome in findings.whole
            if not outcome.passed and all(map(claims.covers, trial.program.requirements.signatures))
        ]
        if not wrong:
            return Claims(claims.by_operation, tuple(notes))
        for trial, outcome in wrong:
            blamed = find(trial)
            signatures = set(blamed.guilty) - failed
            if not signatures:
                every = set(trial.program.requirements.signatures)
                left = blamed.inexact - failed or every - failed
                if not left:  # each is in `failed` already, and yet other claims cover them all
                    passed -= {
                        s for s in passed if s.operation == _rarest(every, findings).operation
                    }
                    continue
                signatures = {_rarest(left, findings)}
            failed |= signatures
            named = ", ".join(sorted({s.operation for s in signatures}))
            notes.append(f"{trial.name}: {outcome.detail}; not claimed: {named}")


def _valued(signature: Signature) -> object:
    """All of a signature but how many axes its inputs have."""
    return signature.operation, signature.types, signature.attributes


def _rarest(signatures: Iterable[Signature], findings: Findings) -> Signature:
    """The signature in the fewest programs that passed: the likeliest to be at fault."""
    counts: Counter[Signature] = Counter()
    for other, outcome in findings.whole:
        if outcome.passed:
            counts.update(other.program.requirements.signatures)
    return min(signatures, key=lambda s: (counts[s], s.key))


_Made = tuple[frozenset[Signature], frozenset[Signature], tuple[Claim, ...]]
"""What passed and what failed of one operation, and what was made of it."""


def _synthesized(
    passed: Iterable[Signature],
    failed: Iterable[Signature],
    vocabulary: Vocabulary,
    made: dict[str, _Made],
) -> dict[str, tuple[Claim, ...]]:
    """The claims of each operation; `made` keeps them for the next time, while they stand."""
    by_operation: dict[str, tuple[list[Signature], list[Signature]]] = defaultdict(lambda: ([], []))
    for place, signatures in enumerate((passed, failed)):
        for signature in signatures:
            if signature.known:
                by_operation[signature.operation][place].append(signature)
    found = {}
    for name, (good, bad) in sorted(by_operation.items()):
        operation = vocabulary.get(name)
        if operation is None or name in RANDOM or not good:
            continue
        known = made.get(name)
        if known is None or known[:2] != (frozenset(good), frozenset(bad)):
            claims = synthesize(_evidence(operation, good, bad))
            made[name] = frozenset(good), frozenset(bad), claims
        claims = made[name][2]
        if claims:
            found[name] = claims
    return found


def _evidence(operation: Operation, good: list[Signature], bad: list[Signature]) -> Evidence:
    return Evidence(
        tuple(sorted(good, key=repr)),
        tuple(sorted(bad, key=repr)),
        tuple(
            attribute.name
            for attribute in operation.attributes
            if attribute.type in ("STRING", "STRINGS") and attribute.name not in FREE_TEXT
        ),
        {name: dtypes for name, dtypes in operation.types if len(dtypes) > 1},
    )
