"""`rlx trust`: let a project's file name what runs, until one byte of it changes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlx.cli import options, output
from rlx.cli.targets import project
from rlx.errors import printable

if TYPE_CHECKING:
    from rlx.freeze.powers import Power
    from rlx.manifest.loader import Manifest
    from rlx.manifest.trust import Standing

VERBS = {
    "factory": "open it by {}",
    "compiler": "compile by {}",
    "materializer": "load payloads by {}",
    "call": "probe it by calling {}",
    "library": "probe it by loading {}",
    "module": "look for the module {}",
    "path": "look for {}",
    "option": "pass the option {}",
    "install": "advise: {}",
    "coverage": "claim what {} says",
    "compiles": "claim for its compiler what {} says",
    "backend": "register it {}",
    "dispatches": "set dispatches to {}",
    "capabilities": "set its capabilities to {}",
    "device": "declare the device {}",
    "capability": "declare the capability {}",
    "kind": "be a manifest of kind {}",
}


@click.command("trust", short_help="Let a project's file name what runs.")
@click.argument("path", required=False, metavar="[FILE]")
@click.option("--list", "listed", is_flag=True, help="Show what is trusted, and what changed.")
@click.option("--revoke", metavar="FILE", help="Trust FILE no more.")
@options.as_json
def command(
    path: str | None, listed: bool, revoke: str | None, as_json: bool, as_format: str
) -> int:
    """Trust FILE (default: the project's file), once it is valid; and show what that allows.

    A project's file may set ranks, switches and safe options. To register backends, it needs
    trust: for its real path, and for the bytes of it and of every coverage file that it names.
    Changing one of them takes the trust back. Nothing that the file names is run here.

    \b
    rlx trust
    rlx trust --list
    rlx trust --revoke backends.yaml
    """
    if sum((path is not None, listed, revoke is not None)) > 1:
        raise click.UsageError("FILE, --list and --revoke exclude each other. Fix: keep one.")
    from rlx.manifest import trust

    as_json = as_json or as_format == "json"
    if listed:
        _show("listed", trust.standings(), as_json)
    elif revoke is not None:
        gone = trust.Standing(trust.revoke(revoke), "revoked")
        _show("revoked", (gone,), as_json)
    else:
        manifest, allowed = checked(path)
        made = trust.Standing(trust.record(manifest), trust.VALID)
        _show("trusted", (made,), as_json, allowed, manifest)
    return 0


def checked(path: str | None) -> tuple[Manifest, tuple[Power, ...]]:
    """The manifest, judged as if it were trusted above the layers that stand below it.

    Raises:
        ConfigError: it is not valid there; it holds every fault.
    """
    from rlx.freeze.loading import load
    from rlx.freeze.powers import powers
    from rlx.manifest import layers
    from rlx.manifest.discovery import LayerPath, find
    from rlx.manifest.faults import Faults
    from rlx.manifest.files import read_bytes

    if path is None:
        own = project()
        if not os.path.lexists(own.path):
            raise click.UsageError(
                "no project's file is here: no rlx.yaml, backends.yaml or configs/backends.yaml. "
                "Fix: name one, or write one with `rlx init`."
            )
    else:
        here = LayerPath("argument", Path(path), printable(path) or ".")
        real = os.path.realpath(path)
        same = (one for one in find(cwd=here.path.parent) if os.path.realpath(one.path) == real)
        own = replace(next(same, here), shown=here.shown)
    if own.layer not in ("project", "argument"):
        raise click.UsageError(
            f"{own.shown} is of the {own.layer} layer, which is always trusted. "
            "Fix: name a project's file."
        )
    data = read_bytes(own.path, Faults(own.shown, own.layer))
    own = replace(own, trusted=True, data=data)
    (manifest,) = layers.load([replace(own, layer="argument")]).manifests
    load((), cwd=own.path.parent, plugins=True, edited=own)
    return manifest, powers(manifest)


def _show(
    action: str,
    standings: tuple[Standing, ...],
    as_json: bool,
    allowed: tuple[Power, ...] = (),
    manifest: Manifest | None = None,
) -> None:
    if as_json:
        output.dump(_document(action, standings, allowed))
    elif manifest is not None:
        lines = [*_allowed(manifest, allowed), _trusted(standings[0]), *_notes(manifest)]
        output.text(lines)
    elif action == "revoked":
        output.text(f"{printable(standings[0].record.path)} is not trusted any more")
    else:
        output.text(_listed(standings))


def _notes(manifest: Manifest) -> list[str]:
    from rlx.manifest.discovery import PROJECT_FILES

    names = sorted({Path(name).name for name in PROJECT_FILES})
    if manifest.file.name in names:
        return []
    return [
        f"note: rlx finds only {' and '.join(names)} by itself; a file of another name is read "
        "where it is named, and is trusted there"
    ]


def _trusted(standing: Standing) -> str:
    record = standing.record
    count = len(record.references)
    more = f" and {count} coverage file{'' if count == 1 else 's'}" if count else ""
    return f"trusted {printable(record.path)}{more}, until a byte changes"


def _allowed(manifest: Manifest, allowed: tuple[Power, ...]) -> list[str]:
    if not allowed:
        return [f"{manifest.path} names nothing that needs trust"]
    rows = [
        [
            printable(one.backend or "-"),
            printable(VERBS[one.what].format(one.value)),
            f"({one.origin})",
        ]
        for one in allowed
    ]
    return [f"{manifest.path} may now:", *output.columns(rows)]


def _listed(standings: tuple[Standing, ...]) -> list[str]:
    if not standings:
        return ["no file is trusted"]
    rows = [["state", "trusted on", "file"]]
    for one in standings:
        others = [printable(name) for name in one.changed if name != one.record.path]
        changed = f" ({', '.join(others)} changed)" if others else ""
        rows.append([one.state, one.record.when, f"{printable(one.record.path)}{changed}"])
    return output.columns(rows, indent="")


def _document(
    action: str, standings: tuple[Standing, ...], allowed: tuple[Power, ...]
) -> dict[str, Any]:
    return {
        "action": action,
        "files": [
            {
                "path": one.record.path,
                "when": one.record.when,
                "state": one.state,
                "changed": list(one.changed),
                "sha256": one.record.digest,
                "references": [
                    {"path": path, "sha256": digest} for path, digest in one.record.references
                ],
            }
            for one in standings
        ],
        "allows": [
            {
                "backend": one.backend or None,
                "what": one.what,
                "value": one.value,
                "source": str(one.origin),
            }
            for one in allowed
        ],
    }
