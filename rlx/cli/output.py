"""What commands print: plain columns, JSON, errors; safe on every console."""

from __future__ import annotations

import json
import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from rlx.cli.spoken import spoken
from rlx.errors import Code, ConfigError, NoBackend, RlxError, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from rlx.router import Route

__all__ = ["columns", "dump", "error", "error_json", "prepare_streams", "printable", "text"]

CODES: dict[str, Code] = {
    "usage": Code(
        "the command line has an unknown command or option, or lacks an argument",
        "see `rlx COMMAND --help`.",
    ),
    "system": Code(
        "the operating system refused a file or ran out of room or memory",
        "check the path, its permissions, and the room that is left.",
    ),
}
"""Codes of what goes wrong outside of rlx's own errors."""


class Unwritable(OSError):
    """Standard output can't be written, so that an error is said on standard error, never there."""


def prepare_streams() -> None:
    """Make a console that is not UTF-8 show what it can't as ASCII escapes, never a crash."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def text(lines: str | Iterable[str], *, err: bool = False) -> None:
    """Print text whose parts were made printable before; each line ends."""
    whole = lines if isinstance(lines, str) else "\n".join(lines)
    write(f"{whole}\n", sys.stderr if err else sys.stdout)


def write(content: str, stream: TextIO | None) -> None:
    """Write to a stream; a reader that went away, as in `rlx backends | head`, is no error.

    Nor is a stream that was closed before we began. A failing standard error is given up, since
    nothing is left to say so on; a full disk behind standard output is raised.
    """
    if stream is None:
        return
    try:
        stream.write(content)
        stream.flush()
    except OSError as error:
        _give_up(stream)
        if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
            raise Unwritable(*error.args) from error


@contextmanager
def plain_warnings(kind: type[Warning]) -> Iterator[None]:
    """Show warnings of the kind as one line, without the place in our code that Python adds."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, kind):
                text(f"warning: {message}", err=True)
            else:
                others(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def settle() -> None:
    """Leave nothing behind that fails when the interpreter flushes once more, as it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            _give_up(stream)


def _give_up(stream: TextIO) -> None:
    """What is left has nowhere to go."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def columns(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Align rows of cells into lines; the last column is not padded."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return [
        (
            indent + "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]])
        ).rstrip()
        for row in rows
    ]


def dump(value: Any) -> None:
    """Print a JSON document: ASCII, two blanks of indent, keys in the order given."""
    text(json.dumps(value, indent=2, ensure_ascii=True))


def error_json(problem: RlxError, flags: Collection[str] = ()) -> dict[str, Any]:
    """The document that `--json` prints for an error; `schemas/error.schema.json` describes it."""
    body: dict[str, Any] = {
        "code": problem.code,
        "message": spoken(problem.message, flags),
        "fix": spoken(problem.fix, flags),
        "source": str(problem.origin) if problem.origin else None,
    }
    if isinstance(problem, ConfigError):
        body["faults"] = [fault_json(fault) for fault in problem.faults]
    route = getattr(problem, "route", None)
    if route is not None:
        body["route"] = route.to_json()
    return {"error": body}


def fault_json(fault: Any) -> dict[str, Any]:
    """One fault, as `validate --json` prints it."""
    return {
        "code": fault.code,
        "severity": fault.severity,
        "message": fault.message,
        "fix": fault.fix,
        "path": fault.origin.path,
        "line": fault.origin.line,
        "column": fault.origin.column,
        "related": [str(place) for place in fault.related],
    }


def error(
    problem: RlxError, *, as_json: bool, whole: bool = False, flags: Collection[str] = ()
) -> None:
    """Print an error: as JSON on standard output where asked for, else on standard error.

    Of a route that chose nothing, all reasons are printed where the `whole` is asked for. `flags`
    are those of the command that failed.
    """
    if as_json:
        dump(error_json(problem, flags))
    elif isinstance(problem, NoBackend) and problem.route is not None:
        from rlx.cli import routes

        text(
            routes.text(cast("Route", problem.route), whole=whole, stream=sys.stderr, flags=flags),
            err=True,
        )
    else:
        text(spoken(str(problem), flags), err=True)


def usage(problem: click.ClickException, *, as_json: bool) -> None:
    """Print a mistake in the command line, like any other error, and the usage line before it."""
    context = getattr(problem, "ctx", None)
    message, _, fix = printable(" ".join(problem.format_message().split())).partition(" Fix: ")
    fix = fix or f"see `{context.command_path if context else 'rlx'} --help`."
    refuse("usage", message, fix, as_json, f"{context.get_usage()}\n\n" if context else "")


def refuse(code: str, message: str, fix: str, as_json: bool, head: str = "") -> None:
    """Print what went wrong outside of rlx's own errors, in their form."""
    message = message.rstrip(".")
    if as_json:
        dump({"error": {"code": code, "message": message, "fix": fix, "source": None}})
    else:
        text(f"{head}rlx: {message}. Fix: {fix}", err=True)


def wants_json(arguments: Sequence[str]) -> bool:
    """True when the command line asks for JSON."""
    pairs = zip(arguments, [*arguments[1:], ""], strict=False)
    return any(
        a in ("--json", "--format=json") or (a == "--format" and b == "json") for a, b in pairs
    )


def wants_all(arguments: Sequence[str]) -> bool:
    """True when the command line asks for every reason of a route."""
    return any(one in ("-v", "--verbose", "--all") for one in arguments)
