"""`rlx enable`: let routing choose a backend again, in the YAML itself."""

from __future__ import annotations

import click

from rlx.cli import edits


@click.command("enable", short_help="Let routing choose a backend again, in the YAML itself.")
@click.argument("backend", metavar="ID")
@edits.options
def command(backend: str, file: str | None, dry_run: bool, as_json: bool, as_format: str) -> int:
    """Let routing choose a backend again: `enabled` of ID in the project's file; the rest stays.

    \b
    rlx enable numpy
    rlx enable numpy --file configs/backends.yaml --dry-run

    Nothing is written when the file is broken, or would be.
    """
    as_json = as_json or as_format == "json"
    return edits.perform(backend, "enabled", lambda *_: (True, ""), file, dry_run, as_json)
