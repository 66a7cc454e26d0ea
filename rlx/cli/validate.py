"""`rlx validate`: every fault of the manifests given, with the parser that run time uses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

import click

from rlx.cli import options, output
from rlx.errors import ConfigError, Fault, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlx.registries import Registry


@click.command("validate", short_help="Check manifests; show every fault with its place.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--strict", is_flag=True, help="Warnings, such as equal ranks, are errors.")
@options.as_json
def command(paths: tuple[str, ...], strict: bool, as_json: bool, as_format: str) -> int:
    """Check each PATH (a file, or a folder of .yaml files) over the packaged layer.

    Without PATH, the layers in force here are checked. Nothing that a manifest names is run.

    \b
    rlx validate backends.yaml
    rlx validate --strict configs/

    Exit code 0 when there is no error, 1 otherwise.
    """
    checked, faults = check(paths)
    errors = [fault for fault in faults if strict or fault.severity == "error"]
    if as_json or as_format == "json":
        output.dump(
            {
                "valid": not errors,
                "checked": list(checked),
                "faults": [output.fault_json(fault) for fault in faults],
            }
        )
    else:
        for fault in faults:
            output.text(str(fault) if fault in errors else f"{fault} (warning)")
        noun = "file" if len(checked) == 1 else "files"
        output.text(
            f"{len(checked)} {noun} checked: {_count(len(errors), len(faults) - len(errors))}"
        )
    return 1 if errors else 0


def _count(errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return "no faults"
    parts = [(errors, "error"), (warnings, "warning")]
    return ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in parts if n)


def check(paths: Iterable[str]) -> tuple[tuple[str, ...], tuple[Fault, ...]]:
    """The files checked, and every fault of them, each once."""
    files = tuple(file for path in paths for file in expand(path))
    faults: dict[Fault, None] = {}
    if not files:
        from rlx.session.default import load_registry

        try:
            registry = load_registry()
        except ConfigError as error:
            faults.update(dict.fromkeys(error.faults))
        else:
            faults.update(dict.fromkeys(registry.warnings))
            files = tuple(printable(source) for source in registry.sources)
        return files, tuple(faults)
    for file in files:
        try:
            registry = load_one(file)
        except ConfigError as error:
            faults.update(dict.fromkeys(error.faults))
        else:
            places = ((w, (w.origin, *w.related)) for w in registry.warnings)
            faults.update({w: None for w, around in places if any(p.path == file for p in around)})
    return files, tuple(faults)


def load_one(file: str) -> Registry:
    """The registry of the packaged layer and this file, which may be part of that layer itself."""
    from pathlib import Path

    from rlx import resources
    from rlx.manifest import read_file
    from rlx.registries import Registry

    path = Path(file)
    if resources.configs() not in path.resolve().parents:
        return Registry.load((file,), only=True)
    read_file(path, layer="packaged")
    return Registry.load((), only=True)


def expand(path: str) -> list[str]:
    """The manifests that a path stands for: itself, or every .yaml and .yml file below a folder.

    Raises:
        OSError: a folder can't be listed, so that what is in it can't be judged.
    """
    from pathlib import Path

    folder = Path(path)
    if not folder.is_dir():
        return [path]
    found = sorted(
        str(Path(below, name))
        for below, folders, files in os.walk(folder, onerror=_unlisted)
        for name in (*folders, *files)
        if name.endswith((".yaml", ".yml"))
    )
    if not found:
        raise click.UsageError(
            f"no .yaml file is below {printable(str(folder))}. Fix: name a manifest."
        )
    return found


def _unlisted(error: OSError) -> NoReturn:
    raise error
