"""`rlx validate`: every fault of the manifests given, with the parser that run time uses."""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from rlx.cli import output
from rlx.cli.reports import report, targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.cli.reports.report import Report

FORMATS = ("text", "json", "github", "sarif")


@click.command("validate", short_help="Check manifests; show every fault with its place.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--strict", is_flag=True, help="Warnings, such as equal ranks, are errors.")
@click.option(
    "--stdin-name", metavar="NAME", help="What `-` is called in messages, as an editor's file."
)
@click.option(
    "--format",
    "as_format",
    type=click.Choice(FORMATS),
    default="text",
    help="What to print; github: annotations in a workflow's log.",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(
    paths: tuple[str, ...], strict: bool, stdin_name: str | None, as_format: str, as_json: bool
) -> int:
    """Check each PATH over the packaged layer: a file, a folder of .yaml files, or a pattern.

    Without PATH, the layers in force here are checked; `-` is standard input. Nothing that a
    manifest names is run.

    \b
    rlx validate backends.yaml
    rlx validate --strict 'teams/**/backends.yaml'
    rlx validate - --stdin-name backends.yaml < backends.yaml
    rlx validate --format sarif > rlx.sarif

    Exit code 0 when there is no error, 1 otherwise.
    """
    if stdin_name is not None and targets.STDIN not in paths:
        raise click.UsageError("--stdin-name names standard input. Fix: add `-`, or drop it.")
    with rarely_collected():
        found = report.check(targets.files(paths), strict, stdin_name)
    show(found, "json" if as_json else as_format)
    return 1 if found.errors else 0


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let Python look for garbage rarely: of what manifests are read into, nothing is any."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def show(found: Report, form: str) -> None:
    """Print the report in one of its forms."""
    if form == "json":
        output.dump(
            {
                "valid": not found.errors,
                "checked": list(found.checked),
                "faults": [output.fault_json(fault) for fault in found.faults],
            }
        )
        return
    from rlx.cli.reports.sources import Sources

    sources = Sources(found.checked, found.texts, found.installed)
    if form == "github":
        from rlx.cli.reports import github

        output.text(github.lines(found, sources))
    elif form == "sarif":
        from rlx.cli.reports import sarif

        output.dump(sarif.log(found, sources))
    else:
        from rlx.cli.reports import text

        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        output.text(text.lines(found, sources, encoding))
