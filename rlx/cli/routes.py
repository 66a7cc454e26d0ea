"""How commands print a route: grouped, or with `-v` whole; no wider than the terminal."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from rlx.cli import spoken
from rlx.router.summary import folded, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from rlx.router import Route

PIPED = 80
"""How wide a pipe or a file is, whatever the terminal beside it."""


def verbose(function: Callable[..., Any]) -> Callable[..., Any]:
    """`-v`: every backend's own reasons and places."""
    return click.option(
        "-v", "--verbose", is_flag=True, help="One line per reason, each with its place."
    )(function)


def text(
    route: Route,
    *,
    whole: bool,
    stream: TextIO | None = None,
    flags: Collection[str] | None = None,
    form: Callable[[Route, int], str] = summary,
) -> str:
    """A route as it is printed on `stream`, by default standard output.

    The whole of it has a line for each reason; lines are folded on a terminal, and never in a
    pipe, where another program may take them one by one. `flags` are the command's; `form` says
    what is told otherwise.
    """
    flags = spoken.flags() if flags is None else flags
    if whole:
        return fitted(spoken.spoken(str(route), flags), stream)
    wide = width(stream) or PIPED
    return folded(spoken.spoken(form(route, wide), flags), wide)


def fitted(lines: str, stream: TextIO | None = None) -> str:
    """Lines folded on a terminal, and left alone in a pipe."""
    wide = width(stream)
    return lines if wide is None else folded(lines, wide)


def width(stream: TextIO | None = None) -> int | None:
    """A terminal's width; None: it is no terminal."""
    stream = sys.stdout if stream is None else stream
    if stream is None or not stream.isatty():
        return None
    return shutil.get_terminal_size((PIPED, 24)).columns
