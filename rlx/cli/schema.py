"""`rlx schema`: the generated JSON Schemas of manifests and of `--json` outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rlx.cli import options, output
from rlx.errors import printable

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@click.command("schema", short_help="Write or check the generated JSON Schemas.")
@click.argument("name", required=False)
@click.option("--write", "do", flag_value="write", help="Write all schemas into the folder.")
@click.option(
    "--check", "do", flag_value="check", help="Exit 1 when a file there is not up to date."
)
@click.option("--folder", metavar="DIR", help="The folder; default: the one that rlx ships.")
@options.as_json
def command(
    name: str | None, do: str | None, folder: str | None, as_json: bool, as_format: str
) -> int:
    """Print the schema NAME, or list the names; with --write or --check, work on the folder.

    \b
    rlx schema backends > backends.schema.json
    rlx schema --write --folder schemas
    """
    from rlx import resources

    known = rendered()
    target = Path(folder) if folder else resources.schemas()
    if do is not None and name is not None:
        raise click.UsageError(
            "NAME is for printing one schema. Fix: drop it, or drop --write and --check."
        )
    if name is not None:
        if name not in known:
            raise click.UsageError(
                f"no schema {printable(name)!r}. Fix: choose one of: {', '.join(known)}."
            )
        output.text(known[name].rstrip("\n"))
        return 0
    if do is None:
        if as_json or as_format == "json":
            output.dump({"schemas": list(known), "stale": []})
        else:
            output.text(list(known))
        return 0
    stale = outdated(target, known)
    if do == "write":
        target.mkdir(parents=True, exist_ok=True)
        for file in stale:
            path = target / file
            key = file.removesuffix(".schema.json")
            if key in known:
                path.write_text(known[key], encoding="utf-8", newline="\n")
            else:
                path.unlink()
    if as_json or as_format == "json":
        output.dump({"schemas": list(known), "stale": stale})
    elif do == "write":
        output.text(f"{len(known)} schemas in {printable(str(target))}, {len(stale)} changed")
    elif stale:
        output.text(f"not up to date: {', '.join(stale)}. Fix: run `rlx schema --write`.")
    else:
        output.text(f"{len(known)} schemas are up to date")
    return 1 if do == "check" and stale else 0


def rendered() -> dict[str, str]:
    """Every schema's text, by name: manifest kinds first, then outputs."""
    from rlx.cli.documents import documents
    from rlx.manifest import schema as manifests

    texts = {name: _text(body) for name, body in manifests.schemas().items()}
    for name, body in documents().items():
        named = {"$schema": DIALECT, "title": f"rlx {name}", **body}
        texts[name] = _text(named)
    return texts


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body, indent=2, ensure_ascii=True) + "\n"


def outdated(folder: Path, known: dict[str, str]) -> list[str]:
    """The files that are missing, differ, or should not be there."""
    stale = []
    for name, text in known.items():
        path = folder / f"{name}.schema.json"
        if not path.is_file() or path.read_bytes() != text.encode():
            stale.append(path.name)
    extra = {p.name for p in folder.glob("*.schema.json")} - {f"{n}.schema.json" for n in known}
    return stale + sorted(extra)
