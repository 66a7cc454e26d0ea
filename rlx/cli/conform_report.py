"""What `rlx conform` prints of the backends that it ran, as lines and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.cli import output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rlx.conformance.conform import Result


def findings(result: Result) -> int:
    """How many verdicts contradict the claims."""
    return len(result.verdicts.findings) + sum(map(len, result.suite.broken.values()))


COLUMNS = ("false claim", "unclaimed success", "crash", "hang")


def table(results: Sequence[Result]) -> list[str]:
    """One line per backend: ONNX's cases through the router, then all trials against the claims."""
    rows = [["backend", "passes", "refused", "wrong", "trials", "pass", *COLUMNS]]
    for one in results:
        suite, verdicts = one.suite, one.verdicts
        ended = {"crash": len(suite.crash), "hang": len(suite.hang)}
        rows.append(
            [
                one.registration.id,
                f"{len(suite.passed)} of {suite.total}",
                str(len(suite.refused)),
                str(len(suite.wrong)),
                str(len(one.findings.records)),
                str(verdicts.total("pass")),
                *(str(verdicts.total(name) + ended.get(name, 0)) for name in COLUMNS),
            ]
        )
    return output.columns(rows, indent="")


def details(results: Sequence[Result], verbose: bool) -> list[str]:
    """What was found of each backend; without `verbose`, the first ten."""
    lines: list[str] = []
    for one in results:
        found = [str(finding) for finding in one.verdicts.findings]
        found += [
            f"{verdict}: {case}: {why}"
            for verdict, cases in one.suite.broken.items()
            for case, why in sorted(cases.items())
        ]
        found += [f"ended a process once, not again: {name}" for name in one.flukes]
        if verbose:
            found += [f"note: {note}" for note in one.claims.notes]
        shown = found if verbose else found[:10]
        lines += [f"{one.registration.id}: {line}" for line in shown]
        if len(found) > len(shown):
            lines.append(f"{one.registration.id}: and {len(found) - len(shown)} more (--verbose)")
    return lines


def to_json(results: Sequence[Result], changed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What `--json` prints."""
    return [
        {
            "backend": one.registration.id,
            "engine": one.engine,
            "suite": {
                "passed": len(one.suite.passed),
                "refused": len(one.suite.refused),
                "unjudged": len(one.suite.unjudged),
                "wrong": one.suite.wrong,
                "crash": one.suite.crash,
                "hang": one.suite.hang,
            },
            "trials": len(one.findings.records),
            "verdicts": {name: one.verdicts.total(name) for name in ("pass", "refused", *COLUMNS)},
            "kept_out": dict(one.verdicts.kept_out),
            "flukes": list(one.flukes),
            "notes": list(one.claims.notes),
            "changed": list(changed.get(one.registration.id, ())),
            "findings": [
                {
                    "operation": found.operation,
                    "case": found.case,
                    "verdict": found.verdict,
                    "detail": found.detail,
                }
                for found in one.verdicts.findings
            ],
        }
        for one in results
    ]
