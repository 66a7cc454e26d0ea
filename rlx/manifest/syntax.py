"""Syntax errors of libyaml and of PyYAML's own parser, in our words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rlx.errors import printable
from rlx.manifest.faults import show
from rlx.manifest.text import position

if TYPE_CHECKING:
    from rlx.manifest.faults import Faults

MAX_DEPTH = 64
TOO_DEEP = f"values may be nested {MAX_DEPTH} levels deep, got more"
FLATTER = "write it flatter."
_INDENT = "check the indentation here and above, and quote text that holds ': ' or ' #'."
_ESCAPE = r"use \\ for a backslash, or single quotes, where it is just text."

_PAIR = r"(?P<key>[A-Za-z_]+):(?P<value>[^\s:]+)"
_GLUED = re.compile(_PAIR)
_ABOVE = re.compile(r"(?:^|[\r\n]) *(?:- +)*" + _PAIR + r"(?: *[\r\n])+[^\r\n]*\Z")

_WORDS: tuple[tuple[str, str, str, str, str], ...] = (
    # what the parser says, code, message, fix, where: at the `problem` or where its `context` began
    ("tag", "yaml-tag", "tags are not allowed", "quote text that starts with '!'.", "problem"),
    (
        "anchor",
        "yaml-anchor",
        "anchors are not allowed",
        "quote text that starts with '&'.",
        "context",
    ),
    (
        "alias",
        "yaml-alias",
        "aliases are not allowed",
        "quote text that starts with '*'.",
        "context",
    ),
    (
        "expected ',' or ']'",
        "",
        "the list is not closed",
        "close it with ']', and separate items with ','.",
        "context",
    ),
    (
        "expected ',' or '}'",
        "",
        "the mapping is not closed",
        "close it with '}', and separate keys with ','.",
        "context",
    ),
    (
        "unexpected end of stream|unexpected document",
        "",
        "the quoted text is not closed",
        "add the closing quote.",
        "context",
    ),
    ("unknown escape", "", "unknown escape in double quotes", _ESCAPE, "escape"),
    ("hex|Unicode character|chr\\(\\)", "", "broken escape in double quotes", _ESCAPE, "escape"),
    ("mapping values are not allowed", "", "a ':' is not expected here", _INDENT, "problem"),
    (
        "sequence entries are not allowed",
        "",
        "a '- ' is not expected here",
        "start the list on a line of its own.",
        "problem",
    ),
    (
        "block scalar",
        "",
        "the text block is broken",
        "write '|' or '>' alone, then lines indented with blanks.",
        "problem",
    ),
    (
        "simple key",
        "",
        "the key has no ':'",
        "write 'key: value', with a blank after the colon.",
        "context",
    ),
    (
        "expected <document start>|'<document start>'",
        "",
        "nothing may follow here",
        _INDENT,
        "problem",
    ),
    ("block collection", "", "a list's item must start with '- '", _INDENT, "problem"),
    ("block mapping", "", "a mapping's line must be 'key: value'", _INDENT, "problem"),
    ("node content", "", "a value is missing here", "write the value, or quote it.", "problem"),
)


def explain(error: Exception, text: str, faults: Faults) -> None:
    """Add the one fault that stopped the parser."""
    problem: Any = getattr(error, "problem_mark", None)
    context: Any = getattr(error, "context_mark", None) or problem
    problem = problem or context
    said = f"{getattr(error, 'context', '') or ''}: {getattr(error, 'problem', None) or error}"
    if problem is None:
        problem = context = _Start
    if "start any token" in said or "tab character" in said:
        _token(text, problem.index, faults)
        return
    if "maximum nesting" in said:  # libyaml looks ahead, and stops before we see 65 levels
        faults.add("yaml-too-deep", TOO_DEEP, FLATTER, position(text, problem.index))
        return
    if _colon(said, text, context.index, problem.index, faults):
        return
    for pattern, code, message, fix, where in _WORDS:
        if re.search(pattern, said):
            index = context.index if where == "context" else problem.index
            if where == "escape":
                index = max(0, text.rfind("\\", 0, index + 1))
            faults.add(
                code or "yaml-syntax", _with_got(message, text, index), fix, position(text, index)
            )
            return
    message = f"this is not YAML: {printable(said).strip(': ')}"
    faults.add("yaml-syntax", message, _INDENT, position(text, problem.index))


def _colon(said: str, text: str, context: int, problem: int, faults: Faults) -> bool:
    """`key:value` where a key was meant: at the place, or in the line above it."""
    glued = None
    if "mapping values" in said:
        glued = _ABOVE.search(text, max(0, problem - 2000), problem)
    elif "simple key" in said:
        glued = _GLUED.match(text, context)
    if glued is None:
        return False
    key, value = glued.group("key", "value")
    fix = f"write {show(f'{key}: {value}')}."
    place = position(text, glued.start("key"))
    faults.add(
        "yaml-syntax", f"a ':' needs a blank after it, got {show(key + ':' + value)}", fix, place
    )
    return True


class _Start:
    index = 0


def _with_got(message: str, text: str, index: int) -> str:
    rest = re.match(r"[^\r\n]*", text[index : index + 1000])
    got = rest.group().strip() if rest else ""
    return f"{message}, got {show(got) if got else 'the end of the line'}"


def _token(text: str, index: int, faults: Faults) -> None:
    """A character that no value can start with."""
    place = position(text, index)
    char = text[index : index + 1]
    if char == "\t":
        faults.add("yaml-syntax", "a tab may not indent", "indent with blanks.", place)
        return
    message = f"text without quotes may not start with {show(char)}"
    faults.add("yaml-syntax", message, "quote it.", place)
