"""Verdicts: what each trial says about the claims in force."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from rlx.conformance.findings import Findings, Record
from rlx.conformance.trial import CRASH, DECLINED, HANG
from rlx.program import Signature

PASS, REFUSED = "pass", "refused"
FALSE, UNCLAIMED = "false claim", "unclaimed success"
VERDICTS = (PASS, REFUSED, FALSE, UNCLAIMED, CRASH, HANG)
FINDINGS = (FALSE, UNCLAIMED, CRASH, HANG)
"""The verdicts that say that a claim is wrong, or missing."""
PROGRAMS = "(programs)"
"""Stands for the operation of programs of several nodes."""
APART = "beside what else is claimed"

Covers = Callable[[Signature], bool]


@dataclass(frozen=True, slots=True)
class Finding:
    """One trial that contradicts the claims."""

    operation: str
    case: str
    verdict: str
    detail: str

    def __str__(self) -> str:
        return f"{self.verdict}: {self.operation}: {self.case}" + (
            f": {self.detail}" if self.detail else ""
        )


@dataclass(slots=True)
class Verdicts:
    """The verdicts of one backend, counted by operation."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    findings: list[Finding] = field(default_factory=list)
    kept_out: Counter[str] = field(default_factory=Counter)
    """Of what is not claimed: how many trials crashed, or hung."""
    digests: dict[str, str] = field(default_factory=dict)
    """Per operation, over the name of each trial, whether it is claimed, and what it did."""

    def total(self, verdict: str) -> int:
        """How many trials have this verdict."""
        return sum(counts[verdict] for counts in self.counts.values())


def judge(findings: Findings, claimed: Covers, could: Covers) -> Verdicts:
    """Hold every trial against the claims in force, and against those that could be made.

    `could` says whether the claims that the same trials support cover a node: a success that no
    row can tell from a failure is refused, and rightly so.
    """
    made = Verdicts()
    lines: dict[str, list[str]] = defaultdict(list)
    for record in findings.records:
        operation = operation_of(record.signatures)
        covered = all(map(claimed, record.signatures))
        verdict = _verdict(record, covered, could)
        made.counts[operation][verdict] += 1
        status = record.outcome.status
        lines[operation].append(f"{record.case}\t{covered}\t{status}\n")
        if verdict in FINDINGS:
            detail = record.outcome.detail
            made.findings.append(Finding(operation, record.case, verdict, detail))
        elif status in (CRASH, HANG):
            made.kept_out[status] += 1
    for signature, why in findings.apart.items():
        if claimed(signature):
            made.counts[signature.operation][FALSE] += 1
            made.findings.append(Finding(signature.operation, APART, FALSE, why))
    made.digests = {name: digest(found) for name, found in lines.items()}
    return made


def _verdict(record: Record, covered: bool, could: Covers) -> str:
    status = record.outcome.status
    if record.outcome.passed:
        if covered:
            return PASS
        return UNCLAIMED if all(map(could, record.signatures)) else REFUSED
    if not covered or status == DECLINED:
        return REFUSED
    return status if status in (CRASH, HANG) else FALSE


def operation_of(signatures: Iterable[Signature]) -> str:
    """The operation that a trial is about."""
    names = {signature.operation for signature in signatures}
    return names.pop() if len(names) == 1 else PROGRAMS


def digest(lines: Iterable[str]) -> str:
    """Of lines in any order."""
    return sha256("".join(sorted(lines)).encode("utf-8")).hexdigest()[:16]


def merged(counts: Mapping[str, Counter[str]]) -> Iterator[tuple[str, int]]:
    """Each verdict with its number over all operations, in order."""
    for verdict in VERDICTS:
        yield verdict, sum(found[verdict] for found in counts.values())
