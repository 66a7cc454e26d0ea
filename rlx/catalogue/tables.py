"""Merges the tables that define the codes: each fact stands beside the code that gives it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from rlx import errors
from rlx.artifact.checking import WORDS
from rlx.cli import app, output
from rlx.errors import Code
from rlx.freeze.codes import CODES as RULES
from rlx.manifest.faults import MEANINGS
from rlx.router.verdicts import CODES as REASONS
from rlx.router.verdicts import VERDICTS
from rlx.settings import UnknownSetting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def collect() -> Iterator[tuple[str, str, Code]]:
    """Every (kind, code, what it means)."""
    tables: dict[str, Mapping[str, Code]] = {
        "error": {one.code: _of_class(one) for one in classes()},
        "manifest": MEANINGS,
        "rule": RULES,
        "reason": REASONS,
        "verdict": VERDICTS,
        "artifact": WORDS,
        "command": output.CODES,
        "warning": {UnknownSetting.code: _of_class(UnknownSetting)},
        "exit": {str(number): one for number, one in app.EXITS.items()},
    }
    for kind, table in tables.items():
        for code, one in table.items():
            yield kind, code, Code(sentence(one.meaning), sentence(one.fix))


def classes() -> list[type[errors.RlxError]]:
    """The exception classes, in the order in which they are written."""
    found = vars(errors).values()
    return [one for one in found if isinstance(one, type) and issubclass(one, errors.RlxError)]


def sentence(text: str) -> str:
    """The text with a capital, unless it begins with code, and a full stop."""
    text = text[0].upper() + text[1:]
    return text if text.endswith((".", "?")) else f"{text}."


def _of_class(one: type[errors.RlxError] | type[UnknownSetting]) -> Code:
    first = (inspect.getdoc(one) or "").partition("\n\n")[0]
    return Code(" ".join(first.split()), one.fix)
