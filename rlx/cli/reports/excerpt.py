"""A line of a file with a caret under one place of it: exact in cells, short, and harmless."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOM = 76
"""So many cells of a line are shown."""
_BEFORE = 50
"""So many of them, at first, before the place."""
_CUT = "..."
_TAB = "    "


def excerpt(line: str, column: int, end: int, encoding: str = "utf-8") -> tuple[str, str]:
    """The line, cut around the column, and a line with carets below the columns up to `end`.

    Columns count characters from 1. Tabs become blanks, and characters that would not be seen, or
    that the encoding lacks, become escapes; the carets stand below what is shown of them.
    """
    from rich.cells import cell_len

    at = min(column - 1, len(line))
    before, after = _window(line, at, encoding)
    head, tail = "".join(reversed(before)), "".join(after)
    cut_before, cut_after = len(before) < at, at + len(after) < len(line)
    marked = "".join(after[: max(1, end - column)])
    shown = (_CUT if cut_before else "") + head + tail + (_CUT if cut_after else "")
    under = " " * (cell_len(head) + (len(_CUT) if cut_before else 0))
    return shown.rstrip(), under + "^" * max(1, cell_len(marked.rstrip()))


def _window(line: str, at: int, encoding: str) -> tuple[list[str], list[str]]:
    """What is shown of the characters before the place, the nearest first, and of those after."""
    before, used = _take((line[i] for i in range(at - 1, -1, -1)), _BEFORE, encoding)
    after, more = _take((line[i] for i in range(at, len(line))), ROOM - used, encoding)
    if len(before) < at and used + more < ROOM:
        before, _ = _take((line[i] for i in range(at - 1, -1, -1)), ROOM - more, encoding)
    return before, after


def _take(chars: Iterator[str], room: int, encoding: str) -> tuple[list[str], int]:
    """As many characters as fit into the room; and no heap of marks that take no room."""
    from rich.cells import cell_len

    taken: list[str] = []
    used = 0
    for char in chars:
        shown = _visible(char, encoding)
        width = cell_len(shown)
        if used + width > room or len(taken) >= 2 * ROOM:
            break
        taken.append(shown)
        used += width
    return taken, used


def _visible(char: str, encoding: str) -> str:
    if char == "\t":
        return _TAB
    if "\udc80" <= char <= "\udcff":  # a byte that is no UTF-8
        return f"\\x{ord(char) - 0xDC00:02x}"
    return printable(char).encode(encoding, "backslashreplace").decode(encoding)
