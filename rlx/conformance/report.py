"""The page of the committed evidence: which operations each backend has, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rlx import resources
from rlx.conformance import evidence
from rlx.conformance.cases import TOTAL, UNJUDGED
from rlx.conformance.evidence import Evidence
from rlx.conformance.picture import draw
from rlx.conformance.verdicts import FALSE, PASS, PROGRAMS, REFUSED, UNCLAIMED

PAGE, PICTURE = "README.md", "operations.png"
ORDER = ("numpy", "torch-cpu", "jax-cpu", "mlx", "onnxruntime-cpu")
"""The order of columns; others come after them, by name."""


def folder() -> Path:
    """Where page and picture are: the checkout's docs, else a folder here."""
    root = resources.PACKAGE.parent
    return (root / "docs" if resources.is_checkout(root) else Path()) / "conformance"


def write() -> list[Path]:
    """Write page and picture from the committed evidence; returns their paths.

    Raises:
        Unavailable: matplotlib is not installed.
    """
    text = write_page()
    draw(gathered(), folder() / PICTURE)
    return [text, folder() / PICTURE]


def write_page() -> Path:
    """Write the page alone; returns its path."""
    path = folder() / PAGE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(gathered()), encoding="utf-8")
    return path


def stale() -> list[Path]:
    """The page, where it is not what the evidence says."""
    path = folder() / PAGE
    said = path.read_text(encoding="utf-8") if path.is_file() else ""
    return [] if said == page(gathered()) else [path]


def gathered() -> list[Evidence]:
    """All committed evidence, in the order of columns."""
    names = [path.stem for path in (resources.configs() / evidence.FOLDER).glob("*.json")]
    names.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    return [one for one in map(evidence.read, names) if one is not None]


def page(found: Sequence[Evidence]) -> str:
    """The page's text."""
    lines = [
        "# What each backend does",
        "",
        "Generated from `configs/evidence` by `rlx conform --report`; "
        "[conformance](../conformance.md) says how it is measured.",
        "",
        f"ONNX's {TOTAL} cases, each run by a session that names the backend:",
        "",
        "| backend | engine | passes | refused | wrong, crash or hang | not judged | trials "
        "| false claims | unclaimed successes |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_line(one) for one in found),
        "",
        "Not judged: " + "; ".join(f"`{name}`, as {why}" for name, why in UNJUDGED.items()) + ".",
        "",
        f"![operations and backends]({PICTURE})",
        "",
        "## What is refused",
        "",
    ]
    for one in found:
        lines += [f"### {one.backend}", "", *_refused(one), *_findings(one)]
    return "\n".join(lines).rstrip() + "\n"


def _line(one: Evidence) -> str:
    suite = one.suite
    refused = sum(map(len, suite["refused"].values()))
    broken = sum(len(suite.get(what, ())) for what in ("wrong", "crash", "hang"))
    trials = sum(
        int(count) for counts in one.operations.values() for count in _numbers(counts).values()
    )
    return (
        f"| `{one.backend}` | {one.engine.removeprefix(one.backend).strip()} "
        f"| {suite['passed']} | {refused} | {broken} | {len(suite['unjudged'])} | {trials} "
        f"| {one.total(FALSE)} | {one.total(UNCLAIMED)} |"
    )


def _numbers(counts: object) -> dict[str, int]:
    return {name: n for name, n in dict(counts).items() if name != "digest"}  # type: ignore[call-overload]


def _refused(one: Evidence) -> list[str]:
    """The operations that no trial passes on, and how many cases each reason refuses."""
    codes = Counter({code: len(cases) for code, cases in one.suite["refused"].items()})
    reasons = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
    without = [
        name for name, counts in one.operations.items() if not counts.get(PASS) and name != PROGRAMS
    ]
    partly = [
        name for name, counts in one.operations.items() if counts.get(PASS) and counts.get(REFUSED)
    ]
    return [
        f"Cases by reason: {reasons or 'none'}.",
        "",
        f"Operations not claimed ({len(without)}): {', '.join(without) or 'none'}.",
        "",
        f"Claimed in part ({len(partly)}): {', '.join(partly) or 'none'}.",
        "",
    ]


def _findings(one: Evidence) -> list[str]:
    if not one.findings:
        return []
    return ["Findings:", "", *(f"- {finding}" for finding in one.findings), ""]
