"""`rlx disable`: keep routing from choosing a backend, in the YAML itself."""

from __future__ import annotations

import click

from rlx.cli import edits


@click.command("disable", short_help="Keep routing from choosing a backend, in the YAML itself.")
@click.argument("backend", metavar="ID")
@edits.options
def command(backend: str, file: str | None, dry_run: bool, as_json: bool, as_format: str) -> int:
    """Keep routing from choosing a backend: `enabled` of ID in the project's file; the rest stays.

    \b
    rlx disable numpy
    rlx disable numpy --file configs/backends.yaml --dry-run

    Nothing is written when the file is broken, or would be.
    """
    as_json = as_json or as_format == "json"
    return edits.perform(backend, "enabled", lambda *_: (False, ""), file, dry_run, as_json)
