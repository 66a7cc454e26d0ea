"""`rlx rank`: put one backend before or after another, or give it a rank, in the YAML itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rlx.cli import edits
from rlx.cli.options import Whole
from rlx.errors import EditError
from rlx.registration import LAST_RANK

if TYPE_CHECKING:
    from rlx.freeze.ordering import Slot
    from rlx.registration import Registration
    from rlx.registries import Registry


@click.command("rank", short_help="Put a backend before or after another, in the YAML itself.")
@click.argument("backend", metavar="ID")
@click.option("--before", metavar="OTHER", help="Directly before this backend.")
@click.option("--after", metavar="OTHER", help="Directly after this backend.")
@click.option("--to", type=Whole(0, LAST_RANK), metavar="N", help="This rank; lower wins.")
@edits.options
def command(
    backend: str,
    before: str | None,
    after: str | None,
    to: int | None,
    file: str | None,
    dry_run: bool,
    as_json: bool,
    as_format: str,
) -> int:
    """Change the rank of backend ID in the project's file, and leave the rest of it as it is.

    \b
    rlx rank numpy --before onnxruntime-cpu
    rlx rank numpy --to 10 --dry-run

    Nothing is written when the file is broken, or would be.
    """
    named = (("--before", before), ("--after", after), ("--to", to))
    given = [option for option, value in named if value is not None]
    if len(given) > 1:
        listed = f"{', '.join(given[:-1])} and {given[-1]}"
        raise click.UsageError(f"{listed} exclude each other. Fix: give just one.")
    if not given:
        raise click.UsageError("one of --before, --after and --to is needed. Fix: give just one.")

    def choose(registry: Registry, registration: Registration) -> tuple[int | bool, str]:
        if to is not None:
            return to, ""
        other = edits.known(registry, str(before if after is None else after))
        return beside(registry, registration, other, before=after is None)

    as_json = as_json or as_format == "json"
    return edits.perform(backend, "rank", choose, file, dry_run, as_json)


def beside(
    registry: Registry, one: Registration, other: Registration, *, before: bool
) -> tuple[int, str]:
    """The rank that puts one backend directly before or after the other, and the words for it.

    Raises:
        EditError: no rank is free there; the message names what has to move.
    """
    from rlx.freeze.ordering import slot, stands

    where = "before" if before else "after"
    if one.id == other.id:
        raise click.UsageError(f"{one.id} can't stand {where} itself. Fix: name another backend.")
    said = f", directly {where} {other.id} ({other.rank})"
    if stands(registry.registrations, one.id, other.id, before=before):
        return one.rank, said
    found = slot(registry.registrations, one.id, other.id, before=before)
    if found.rank is None:
        raise _full(found, one, where)
    return found.rank, said


def _full(found: Slot, one: Registration, where: str) -> EditError:
    first, second = found.before, found.after
    if first is None or second is None:
        only = second or first
        assert only is not None
        gap = f"{where} {only.id} ({only.rank})"
    else:
        gap = f"between {first.id} ({first.rank}) and {second.id} ({second.rank})"
    moves = ", then ".join(f"`rlx rank {name} --to {rank}`" for name, rank in found.moves)
    return EditError(
        f"no rank is free for {one.id} {gap}",
        fix=f"make room first: {moves}." if moves else "give other backends lower ranks first.",
    )
