"""The facts file, which `rlx devices --json` writes and `rlx explain --facts` reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rlx.device import MAX_INDEX, shown
from rlx.errors import printable
from rlx.files import open_plain
from rlx.origin import Origin
from rlx.router import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT = 4 << 20
T = TypeVar("T")


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
        with open_plain(path) as stream:
            data = stream.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise ValueError("it is over 4 MiB")
        listed = _as(dict, "an object", json.loads(data.decode("utf-8")))["facts"]
        facts: dict[tuple[str, int], Fact] = {}
        for entry in _as(list, "a list of facts", listed):
            one = _as(dict, "a fact", entry)
            key = _text(one["backend"]), _index(one["index"])
            if key in facts:
                raise ValueError(f"{key[0]!r} has two facts at index {key[1]}")
            facts[key] = Fact(
                reason=_reason(one),
                software=_flag(one["software"]),
                detail=_text(one.get("detail", "")),
                fix=None if one.get("fix") is None else _text(one["fix"]),
                source=Origin(printable(path)),
            )
        return facts
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        why = getattr(error, "strerror", None) or str(error)
        why = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else why
        raise click.UsageError(
            f"{printable(path)} is not a facts file: {printable(why)}. "
            "Fix: write one with `rlx devices --json > FILE` on the machine in question."
        ) from error


def _reason(one: Mapping[str, Any]) -> str | None:
    if _flag(one["available"]):
        return None
    return _text(one["reason"])


def _as(kind: type[T], wanted: str, value: Any) -> T:
    if type(value) is not kind:
        raise TypeError(f"expected {wanted}, got {shown(value)}")
    return value


def _text(value: Any) -> str:
    return _as(str, "text", value)


def _flag(value: Any) -> bool:
    return _as(bool, "true or false", value)


def _index(value: Any) -> int:
    if not 0 <= _as(int, "an index", value) <= MAX_INDEX:
        raise TypeError(f"expected an index from 0 to {MAX_INDEX}, got {shown(value)}")
    return int(value)
