"""`rlx explain-code`: what a code means, with an example and what to do."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

import click

from rlx.cli import options, output
from rlx.errors import printable

if TYPE_CHECKING:
    from rlx.catalogue import Entry


@click.command("explain-code", short_help="Say what a code means, with an example and a fix.")
@click.argument("code", required=False)
@options.as_json
def command(code: str | None, as_json: bool, as_format: str) -> int:
    """Say what CODE means; without it, list every code.

    A code stands in `--json` documents, in the lines of `rlx explain`, and as a command's exit
    code.

    \b
    rlx explain-code not-requested
    rlx explain-code 3
    """
    from rlx.catalogue import entries

    known = entries()
    found = known if code is None else tuple(one for one in known if one.code == code)
    if not found:
        raise click.UsageError(_unknown(str(code), known))
    if as_json or as_format == "json":
        output.dump({"codes": [asdict(one) for one in found]})
    elif code is None:
        output.text(_list(known))
    else:
        output.text("\n\n".join(map(_text, found)))
    return 0


def _unknown(code: str, known: tuple[Entry, ...]) -> str:
    from difflib import get_close_matches

    wanted = code.strip().lower().replace("_", "-")
    near = get_close_matches(wanted, [one.code for one in known], n=1)
    hint = f"did you mean {near[0]!r}?" if near else "run `rlx explain-code` for the list."
    return f"no code {printable(code)!r}. Fix: {hint}"


def _list(known: tuple[Entry, ...]) -> list[str]:
    from rlx.catalogue import KINDS

    lines = []
    for kind, group in groupby(known, key=lambda one: one.kind):
        lines += ["", f"{kind}: {KINDS[kind]}"]
        lines += output.columns([[one.code, one.meaning] for one in group])
    return lines[1:]


def _text(one: Entry) -> str:
    parts = [f"{one.code} ({one.kind})", f"  {one.meaning}", f"  Fix: {one.fix}", "", "  Example:"]
    shown = [*one.example.shown.splitlines()]
    if one.example.printed:
        shown += ["", *one.example.printed.splitlines()]
    return "\n".join([*parts, *(f"    {line}".rstrip() for line in shown)])
