"""`rlx diff`: which programs would run elsewhere under another configuration, and why."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rlx.cli import options, output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.registration import Registration
    from rlx.router import Fact
    from rlx.session.selection import Answer

FORMATS = ("text", "json", "markdown")


@click.command("diff", short_help="Say which programs would run elsewhere, and why.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.argument("programs", metavar="PROGRAM...", nargs=-1, required=True)
@options.request
@click.option("--all", "everything", is_flag=True, help="List the programs that do not change too.")
@click.option("--no-probe", is_flag=True, help="Run no probe; take every backend as available.")
@click.option("--facts", metavar="FILE", help="Take what is available from `rlx devices --json`.")
@click.option("--exit-code", is_flag=True, help="Exit 1 when a program changes.")
@click.option(
    "--format",
    "as_format",
    type=click.Choice(FORMATS),
    default="text",
    help="What to print; markdown: for a comment on a change.",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(
    old: str,
    new: str,
    programs: tuple[str, ...],
    device: str | None,
    backend: str | None,
    require: tuple[str, ...],
    everything: bool,
    no_probe: bool,
    facts: str | None,
    exit_code: bool,
    as_format: str,
    as_json: bool,
) -> int:
    """Route each PROGRAM under the manifest OLD and under NEW, and show what differs.

    OLD and NEW are a file, a folder that holds one, `REV:path` as git has it, or `packaged`:
    what rlx ships. Each is taken alone above what is installed. PROGRAM is a file, a folder of
    .onnx and .onnxtxt files, or a pattern. Variables such as RLX_DEVICE count for nothing here.

    \b
    rlx diff HEAD:backends.yaml backends.yaml models/
    rlx diff packaged backends.yaml model.onnx --no-probe
    rlx diff main:backends.yaml backends.yaml models/ --facts server.json --format markdown

    Exit code 0; with --exit-code, 1 when a program changes; 4 when OLD or NEW is broken.
    """
    from rlx.cli import plan
    from rlx.cli.facts import read_facts
    from rlx.cli.programs import load_all
    from rlx.cli.sides import registries
    from rlx.session.difference import Asked, difference

    if no_probe and facts is not None:
        raise click.UsageError("--no-probe and --facts exclude each other. Fix: drop one of them.")
    known = read_facts(facts) if facts is not None else None
    before, after = registries((old, new))
    found = difference(
        before,
        after,
        load_all(programs),
        Asked(device, backend, require),
        answer_for(known, no_probe),
        known,
    )
    shown = plan.Plan(found, (old, new), everything)
    if as_json or as_format == "json":
        output.dump(plan.to_json(shown))
    else:
        lines = plan.text(shown) if as_format == "text" else plan.markdown(shown)
        output.text(plain(line) for line in lines)
    return 1 if exit_code and found.changed else 0


def answer_for(facts: Mapping[tuple[str, int], Fact] | None, no_probe: bool) -> Answer | None:
    """What is said of a backend that no fact is known of; None: its probes are to be run."""
    from rlx.session.routes import NOT_GIVEN, UNPROBED

    if facts is None and not no_probe:
        return None
    unknown = UNPROBED if facts is None else NOT_GIVEN

    def answer(one: Registration, index: int) -> Fact:  # noqa: ARG001 - a selector's question
        return unknown

    return answer


def plain(line: str) -> str:
    """The line with an arrow that the console can show."""
    try:
        "→".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return line.replace("→", "->")
    return line
