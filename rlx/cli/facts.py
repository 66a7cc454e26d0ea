"""The facts file, which `rlx devices --json` writes and `rlx explain --facts` reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlx.errors import printable
from rlx.origin import Origin
from rlx.router import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT = 4 << 20


def fact_json(backend: str, device: str, index: int, fact: Fact) -> dict[str, Any]:
    """One fact, as the file has it."""
    return {
        "backend": backend,
        "device": device,
        "index": index,
        "available": fact.reason is None,
        "reason": fact.reason,
        "fix": fact.fix,
        "software": fact.software,
        "detail": fact.detail,
        "source": str(fact.source) if fact.source else None,
    }


def read_facts(path: str) -> Mapping[tuple[str, int], Fact]:
    """Read a facts file.

    Raises:
        click.UsageError: the file is missing, too large, or not what `rlx devices --json` writes.
    """
    try:
        file = Path(path)
        if not file.is_file():
            raise OSError("it is not a file")
        with file.open("rb") as stream:
            data = stream.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise ValueError("it is over 4 MiB")
        return {
            (_text(one["backend"]), _index(one["index"])): Fact(
                reason=_reason(one),
                software=_flag(one["software"]),
                detail=_text(one.get("detail", "")),
                fix=None if one.get("fix") is None else _text(one["fix"]),
                source=Origin(path),
            )
            for one in json.loads(data.decode("utf-8"))["facts"]
        }
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        why = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise click.UsageError(
            f"{printable(path)} is not a facts file: {printable(why)}. "
            "Fix: write one with `rlx devices --json > FILE` on the machine in question."
        ) from error


def _reason(one: Mapping[str, Any]) -> str | None:
    if _flag(one["available"]):
        return None
    return _text(one["reason"])


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {value!r}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, got {value!r}")
    return value


def _index(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 65535:
        raise TypeError(f"expected an index, got {value!r}")
    return value
