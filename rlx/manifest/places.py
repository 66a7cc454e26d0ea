"""Offsets in a manifest's text that its nodes don't hold: line ends, indents, quotes of keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.manifest.nodes import Document, Node

QUOTES = ("'", '"')
REST_OF_LINE = re.compile(r"[ \t]*(?P<comma>,)?[ \t]*(?:(?<=[ \t])#[^\r\n]*)?(?=[\r\n])")
"""What may follow an item of a list in brackets on its line; up to the line's end."""
_BREAK = re.compile("\r\n|\r|\n")
_BLANK_END = re.compile("(?>\r\n|\r|\n)[ \t]*(?>\r\n|\r|\n)\\Z")


def offset(text: str, line: int, column: int) -> int:
    """The offset of a place; lines and columns count from 1."""
    start = 0
    for _ in range(line - 1):
        found = _BREAK.search(text, start)
        if found is None:
            break
        start = found.end()
    return start + column - 1


def line_end(text: str, at: int) -> int:
    """The offset at which the line ends, before its line break."""
    found = _BREAK.search(text, at)
    return len(text) if found is None else found.start()


def line_break(text: str, at: int) -> str:
    """The line break of the line; of a last line without one, that of the line before it."""
    found = _BREAK.search(text, at)
    if found is not None:
        return found.group()
    before = _BREAK.findall(text, 0, at)
    return before[-1] if before else "\n"


def indent(text: str, at: int) -> str | None:
    """The blanks before a place that is the first on its line; None where it is not."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    before = text[start:at]
    return None if before.strip(" ") else before


def ends_in_blank_line(text: str) -> bool:
    """True when the last line holds nothing."""
    return _BLANK_END.search(text) is not None


def quote_of_key(document: Document, *keys: str | int) -> str:
    """The quote that a key is written in; empty for a plain one."""
    origin = document.key_origin(*keys)
    sign = document.text[offset(document.text, origin.line, origin.column)]
    return sign if sign in QUOTES else ""


def content_end(document: Document, node: Node) -> int:
    """Where the last character of a value stands; a block's own end is where the next thing is."""
    text, value = document.text, node.value
    if node.start == node.end:  # nothing is written: the place is the key's
        return offset(text, node.line, node.column)
    first = text[node.start]
    if first in "{[":
        return node.end
    if isinstance(value, dict) and value:
        return content_end(document, list(value.values())[-1].node)
    if isinstance(value, tuple) and value:
        return content_end(document, value[-1])
    return node.start + len(text[node.start : node.end].rstrip())
