"""A coverage file: rows that people can read, in one order, written from claims."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import yaml

from rlx.conformance.claims import Claims
from rlx.conformance.synthesis import Claim
from rlx.operations.values import shortest

HEADER = "# yaml-language-server: $schema=../../schemas/coverage.schema.json\n"
NOTE = "# Written by `rlx conform --backend {backend} --write`: do not edit.\n"
WIDTH = 100
_LETTERS = frozenset("yYnN")
"""Booleans in YAML 1.1, which PyYAML writes without quotes all the same."""


def render(
    backend: str, engine: str, platform: str, claims: Claims, *, packaged: bool = True
) -> str:
    """The text of the coverage file of one backend; packaged, it names its schema."""
    evidence = {"kind": "measured", "engine": engine, "platform": platform}
    lines = [
        *([HEADER] if packaged else []),
        NOTE.format(backend=backend),
        "apiVersion: rlx/v1\n",
        "kind: Coverage\n",
        f"evidence: {_flow(evidence)}\n",
        "rows:\n" if claims.by_operation else "rows: []\n",
    ]
    lines += [_written(row) for row in rows(claims)]
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


def _written(row: dict[str, Any]) -> str:
    """The row on one line where it fits, else a line or more for each of its keys."""
    short = f"  - {_flow(row)}"
    if len(short) <= WIDTH:
        return short + "\n"
    lines = [
        line
        for key, value in row.items()
        for line in _wrapped(f"{key}: {_flow(value)}").split("\n")
    ]
    return "".join(f"  {'-' if place == 0 else ' '} {line}\n" for place, line in enumerate(lines))


def _wrapped(text: str) -> str:
    """The text broken after commas; YAML reads a break as the blank that it replaces."""
    lines = [""]
    for part in text.split(", "):
        joined = f"{lines[-1]}, {part}" if lines[-1] else part
        if len(joined) > WIDTH - 6 and lines[-1]:
            lines[-1] += ","
            lines.append(f"  {part}")
        else:
            lines[-1] = joined
    return "\n".join(lines)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, float):
        return shortest(value)
    if isinstance(value, str) and value in _LETTERS:
        return f"'{value}'"
    text: str = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=10**6)
    return text.strip()[1:-1]
