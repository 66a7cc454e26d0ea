"""Every code that rlx can give, with its meaning, an example and what to do; read from one file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("codes.json")
"""Generated from the tables that define the codes: `python -m rlx.catalogue --write`."""

KINDS = {
    "error": "What rlx raises, and what `--json` prints as `error.code`.",
    "manifest": "What is wrong with a manifest's text or shape; a `ConfigError` lists them.",
    "rule": "A rule that a registry has to pass; a `ConfigError` lists those that are broken.",
    "reason": "Why a backend was not chosen, in the order in which the checks run.",
    "verdict": "What a decision says of each backend.",
    "artifact": "What `rlx payload check` says of an artifact, in one word.",
    "command": "What goes wrong on the command line before rlx's own errors can say it.",
    "warning": "What is wrong, but stops nothing.",
    "exit": "The exit codes of every command.",
}
"""The groups, in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class Example:
    """What was run or read, and what it gave."""

    language: str
    """`yaml` (a manifest, and its message), `python` or `console`."""
    shown: str
    printed: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One code of one kind; two kinds may share a code."""

    code: str
    kind: str
    meaning: str
    fix: str
    example: Example


@cache
def entries() -> tuple[Entry, ...]:
    """The whole catalogue, by kind and then in the order of the defining table."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))["codes"]
    return tuple(Entry(**{**one, "example": Example(**one["example"])}) for one in listed)
