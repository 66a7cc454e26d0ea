"""A coverage file: rows that people can read, in one order, written from claims."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import yaml

from rlx.conformance.claims import Claims
from rlx.conformance.synthesis import Claim

HEADER = "# yaml-language-server: $schema=../../schemas/coverage.schema.json\n"
NOTE = "# Written by `python -m rlx.conformance --backend {backend} --write`: do not edit.\n"
WIDTH = 100


def render(backend: str, engine: str, platform: str, claims: Claims) -> str:
    """The text of the coverage file of one backend."""
    evidence = {"kind": "measured", "engine": engine, "platform": platform}
    lines = [
        HEADER,
        NOTE.format(backend=backend),
        "apiVersion: rlx/v1\n",
        "kind: Coverage\n",
        f"evidence: {_flow(evidence, 0)}\n",
        "rows:\n" if claims.by_operation else "rows: []\n",
    ]
    lines += [f"  - {_flow(row, 4)}\n" for row in rows(claims)]
    return "".join(lines)


def rows(claims: Claims) -> list[dict[str, Any]]:
    """One row per distinct claim, with every operation that has it."""
    operations: dict[Claim, list[str]] = defaultdict(list)
    for name, found in claims.by_operation.items():
        for one in found:
            operations[one].append(name)
    made = [_row(sorted(names), one) for one, names in operations.items()]
    return sorted(made, key=lambda row: (row["operations"], repr(row)))


def _row(operations: list[str], claim: Claim) -> dict[str, Any]:
    row: dict[str, Any] = {"operations": operations}
    if claim.types:
        row["types"] = {variable: list(dtypes) for variable, dtypes in claim.types}
    if claim.attributes:
        row["attributes"] = {
            name: [list(value) if isinstance(value, tuple) else value for value in values]
            for name, values in claim.attributes
        }
    if claim.ndim is not None:
        low, high = claim.ndim
        row["ndim"] = {"min": low} if high is None else {"min": low, "max": high}
    return row


def _flow(value: Any, indent: int) -> str:
    """The value on one line, or on several that go on below its start."""
    text = yaml.safe_dump(
        value, default_flow_style=True, width=WIDTH - indent, sort_keys=False, allow_unicode=True
    )
    return text.strip().replace("\n", "\n" + " " * indent)
