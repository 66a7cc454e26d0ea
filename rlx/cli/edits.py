"""One edit of one value, from the command line to the file: judged before it is written."""

from __future__ import annotations

import codecs
import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from rlx.cli import output
from rlx.cli.init import HEAD
from rlx.cli.targets import Target
from rlx.cli.targets import target as _target
from rlx.errors import UnknownBackend, printable
from rlx.registration import LAST_RANK

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.origin import Origin
    from rlx.registration import Registration, Setting
    from rlx.registries import Registry

    Chosen = tuple[int | bool, str]
    """The value to write, and what is to be said of it."""

_DEFAULTS: dict[str, int | bool] = {"enabled": True, "rank": LAST_RANK}


@dataclass(frozen=True, slots=True)
class Edit:
    """What an edit would do, or did."""

    target: Target
    backend: str
    key: str
    value: int | bool
    was: Setting | None
    """What this file and those below it gave; None: the default."""
    before: bytes
    after: bytes
    place: Origin | None
    """Where the value stands; None: nowhere, the default holds."""
    said: str
    """What is to be added to the value: ` (directly before numpy)`."""
    notes: tuple[str, ...]

    def diff(self) -> list[str]:
        """A unified diff; its lines don't end."""
        name = self.target.own.shown
        old, new = (one.decode("utf-8-sig").splitlines() for one in (self.before, self.after))
        first = "/dev/null" if self.target.missing else f"a/{name}"
        return list(difflib.unified_diff(old, new, first, f"b/{name}", lineterm=""))


def options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that edits."""
    from rlx.cli.options import as_json

    for option in (
        click.option("--dry-run", is_flag=True, help="Show the change as a diff; write nothing."),
        click.option(
            "--file",
            metavar="FILE",
            help="The manifest to edit (default: the project's); created where it is missing.",
        ),
    ):
        function = option(function)
    return as_json(function)


def perform(
    backend: str,
    key: str,
    choose: Callable[[Registry, Registration], Chosen],
    file: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Edit one value of one backend; `choose` says which, from the registry as it is.

    Raises:
        ConfigError: the configuration is broken, or would be; nothing is written.
        EditError: the file can't be edited as asked; nothing is written.
        UnknownBackend: no backend has the id.
    """
    edit = _judged(backend, key, choose, file)
    if edit.before != edit.after and not dry_run:
        edit.target.write(edit.before, edit.after)
    if as_json:
        output.dump(_document(edit, dry_run))
    else:
        output.text(_text(edit, dry_run))
    return 0


def _judged(
    backend: str, key: str, choose: Callable[[Registry, Registration], Chosen], file: str | None
) -> Edit:
    from rlx.manifest import editing

    target = _target(file)
    own = target.own
    before = HEAD.encode() if target.missing else target.read()
    document = target.document(before)
    registry = target.registry(before)
    registration = known(registry, backend)
    value, said = choose(registry, registration)
    was = _was(registration, key, own.layer)
    after = before
    if (was.value if was else _DEFAULTS[key]) != value:
        text = editing.edit(document, registration.id, key, value)
        mark = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
        after = mark + text.encode()
        registry = target.registry(after)
        registration = known(registry, registration.id)
    place = was.origin if was else None
    if after != before:
        place = editing.place(target.document(after), registration.id, key)
    return Edit(
        target=target,
        backend=registration.id,
        key=key,
        value=value,
        was=was,
        before=b"" if target.missing else before,
        after=b"" if target.missing and after == before else after,
        place=place,
        said=said,
        notes=_notes(target, registry, registration, key, value) if after != before else (),
    )


def known(registry: Registry, backend: str) -> Registration:
    """The registration of this id.

    Raises:
        UnknownBackend: there is none.
    """
    from rlx.settings.placement import ids
    from rlx.settings.variables import suggestion

    found = registry.get(backend)
    if found is None:
        name = printable(backend)
        fix = suggestion(backend, ids(registry))
        raise UnknownBackend(f"no backend {name!r} is registered", fix=fix)
    return found


def _was(registration: Registration, key: str, layer: str) -> Setting | None:
    """The value that this layer and the weaker ones give; None: the default holds."""
    from rlx.freeze.loading import LAYERS

    height = LAYERS.index(layer)
    given = registration.settings(key)
    below = [one for one in given if LAYERS.index(one.origin.layer) <= height]
    return below[-1] if below else None


def _notes(
    target: Target, registry: Registry, registration: Registration, key: str, value: int | bool
) -> tuple[str, ...]:
    from rlx.manifest.trust import is_trusted

    own, notes = target.own, []
    if getattr(registration, key) != value:
        winner = registration.settings(key)[-1]
        notes.append(
            f"{key} of {registration.id} stays {_show(winner.value)}, which "
            f"{printable(str(winner.origin))} sets and wins"
        )
    if key == "rank":
        notes += _tie(registry, registration)
    if not target.in_force:
        notes.append(f"{own.shown} is read only where it is named: RLX_CONFIG, or --config")
    if not target.missing and target.discovered and is_trusted(own.path):
        notes.append(f"{own.shown} was trusted; run `rlx trust {own.shown}` again after the edit")
    return tuple(notes)


def _tie(registry: Registry, one: Registration) -> list[str]:
    """Which backends have the same rank now, and how to part them."""
    same = [other.id for other in registry.registrations if other.rank == one.rank]
    if len(same) < 2:
        return []
    other = next(name for name in same if name != one.id)
    return [
        f"rank {one.rank} is shared by {', '.join(same)}, tried in this order; to settle it: "
        f"`rlx rank {one.id} --before {other}`, or `--after {other}`"
    ]


def _show(value: Any) -> str:
    return str(value).lower()


def _text(edit: Edit, dry_run: bool) -> list[str]:
    name, own = f"{edit.key} of {edit.backend}", edit.target.own
    notes = [f"note: {one}" for one in edit.notes]
    if edit.before == edit.after:
        place = printable(str(edit.place)) if edit.place else "by default"
        return [f"nothing to change: {name} is {_show(edit.value)}{edit.said} ({place})"]
    if dry_run:
        return [*map(printable, edit.diff()), *notes]
    verb = "created" if edit.target.missing else "edited"
    was = f"{_show(_DEFAULTS[edit.key])} by default"
    if edit.was:
        was = f"{_show(edit.was.value)}, {edit.was.origin}"
    return [
        f"{verb} {own.shown}: {name} is {_show(edit.value)}{edit.said} "
        f"({printable(str(edit.place))}; was {printable(was)})",
        *notes,
    ]


def _document(edit: Edit, dry_run: bool) -> dict[str, Any]:
    return {
        "file": edit.target.own.shown,
        "backend": edit.backend,
        "key": edit.key,
        "value": edit.value,
        "source": str(edit.place) if edit.place else None,
        "was": edit.was.value if edit.was else None,
        "was_source": str(edit.was.origin) if edit.was else None,
        "changed": edit.before != edit.after,
        "written": edit.before != edit.after and not dry_run,
        "created": edit.target.missing and edit.before != edit.after and not dry_run,
        "diff": "".join(f"{line}\n" for line in edit.diff()),
        "notes": list(edit.notes),
    }
