"""What the PATHs of a command stand for: files, folders, patterns, and `-` for standard input."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

import click

from rlx.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

STDIN = "-"
ENDINGS = (".yaml", ".yml")


def files(paths: Iterable[str]) -> tuple[str, ...]:
    """The files, each once, in the order given; of a folder or pattern, in the order of names.

    Raises:
        click.UsageError: a folder has no manifest in it, or nothing matches a pattern.
        OSError: a folder can't be listed, so that what is in it can't be judged.
    """
    return tuple(dict.fromkeys(file for path in paths for file in _one(path)))


def _one(path: str) -> list[str]:
    from pathlib import Path

    if path == STDIN:
        return [path]
    if _is_pattern(path):
        return [file for match in _matches(path) for file in _one(match)]
    if not Path(path).is_dir():
        return [path]
    found = []
    for below, folders, files in os.walk(path or ".", onerror=_unlisted):
        # As with a shell's patterns, what begins with a dot (.git, .pre-commit-config.yaml) is
        # other tools'; it is judged where it is named.
        shown = [name for name in (*folders, *files) if not name.startswith(".")]
        found += [str(Path(below, name)) for name in shown if name.endswith(ENDINGS)]
        folders[:] = [name for name in folders if not name.startswith(".")]
    found.sort()
    if not found:
        raise click.UsageError(
            f"no .yaml file is below {printable(str(Path(path)))}. Fix: name a manifest."
        )
    return found


def _is_pattern(path: str) -> bool:
    """True for what a shell left as it was; a file that is called so is meant as itself."""
    return any(char in path for char in "*?[") and not os.path.lexists(path)


def _matches(pattern: str) -> list[str]:
    from glob import glob

    found = sorted(glob(pattern, recursive=True))  # noqa: PTH207 - a pattern may be absolute
    if not found:
        raise click.UsageError(
            f"no file matches {printable(pattern)!r}. Fix: correct the pattern; `**` stands for "
            "any folders, except those whose name begins with a dot."
        )
    return found


def _unlisted(error: OSError) -> NoReturn:
    raise error
