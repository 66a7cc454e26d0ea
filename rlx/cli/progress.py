"""Progress on standard error, where a person watches it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")


def track(items: Sequence[T], what: str, *, show: bool = True) -> Iterable[T]:
    """Yield the items; with a bar on standard error when it is a terminal."""
    if not show or not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, description=what, console=Console(stderr=True), transient=True)
