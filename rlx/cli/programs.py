"""PROGRAM… of a command: files, folders and patterns; what can't be read is said all at once."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlx.errors import ProgramError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlx.program import Program

ENDINGS = (".onnx", ".onnxtxt")


def load_all(paths: Iterable[str]) -> list[Program]:
    """The programs, each file once, in the order given.

    Raises:
        ProgramError: some can't be read; it names each of them.
        click.UsageError: a folder or a pattern holds no program.
    """
    from rlx.program import load

    made: list[Program] = []
    failed: list[ProgramError] = []
    for path in dict.fromkeys(file for text in paths for file in expand(text)):
        try:
            made.append(load(path))
        except ProgramError as error:
            failed.append(error)
    if len(failed) > 1:
        lines = [*map(str, failed[:-1]), str(failed[-1]).removesuffix(f". Fix: {failed[-1].fix}")]
        raise ProgramError("\n".join(lines), fix=failed[-1].fix)
    if failed:
        raise failed[0]
    return made


def expand(text: str) -> list[str]:
    """The files that an argument stands for."""
    if os.path.isdir(text):  # noqa: PTH112 - never raises
        found = [
            str(Path(below, name))
            for below, _, names in os.walk(text)
            for name in names
            if name.lower().endswith(ENDINGS)
        ]
    elif os.path.lexists(text) or not glob.has_magic(text):
        return [text]  # one that is not there: loading it says so
    else:
        found = [name for name in glob.iglob(text, recursive=True) if not os.path.isdir(name)]  # noqa: PTH112, PTH207
    if not found:
        raise click.UsageError(
            f"{printable(text)} holds no {' and no '.join(ENDINGS)} file. Fix: name a program."
        )
    return sorted(found)
