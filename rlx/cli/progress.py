"""Progress on standard error, where a person watches it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")


def track(items: Sequence[T], what: str, *, show: bool = True) -> Iterable[T]:
    """Yield the items; with a bar on standard error when it is a terminal."""
    if not show or not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, description=what, console=Console(stderr=True), transient=True)


@contextmanager
def bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error while it is a terminal; yields what reports: what, done, total."""
    if not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as shown:
        task = shown.add_task("starting", total=None)

        def report(what: str, done: int, total: int) -> None:
            shown.update(task, description=what, completed=done, total=total)

        yield report
