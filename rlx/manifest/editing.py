"""Changing one value of a manifest's text in place: every other character stays as it was.

The places come from the parsed document. Each way to write a change is tried in turn, and taken
only when the new text parses to just the values asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.errors import ConfigError, EditError
from rlx.manifest import places
from rlx.manifest.parser import parse
from rlx.manifest.scalars import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.manifest.nodes import Document, Node
    from rlx.origin import Origin

Value = int | bool | str
Keys = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Splice:
    """The text that takes the place of what stands between two offsets."""

    start: int
    end: int
    text: str


def edit(document: Document, backend: str, key: str, value: Value) -> str:
    """The text in which the backend's `key` (`rank`, `enabled` or `coverage`) is `value`.

    Where the file registers the backend, its entry is changed; else its override, which is added
    where there is none. The document has passed the check of its shape.

    Raises:
        EditError: no way to write it parses to what is meant.
    """
    found = entry(document, backend)
    if found is not None and _same(document.node(*found, key), value):
        return document.text
    wanted = _wanted(document, found, backend, key, value)
    for splices in _ways(document, found, backend, key, value):
        text = applied(document.text, splices)
        try:
            tree = parse(text.encode(), document.path, document.layer).root.plain()
        except ConfigError:
            continue
        if _plain(tree) in wanted:
            return text
    raise EditError(
        f"{key} of {backend} can't be written into the layout of this file",
        fix=f"write it yourself, under overrides: {{id: {backend}, {key}: {_scalar(value)}}}.",
        origin=document.origin("overrides") if found is None else document.origin(*found),
    )


def applied(text: str, splices: tuple[Splice, ...]) -> str:
    """The text after all splices, whose offsets are those of the text before."""
    for one in sorted(splices, key=lambda one: one.start, reverse=True):
        text = text[: one.start] + one.text + text[one.end :]
    return text


def entry(document: Document, backend: str) -> Keys | None:
    """The keys of the registration or else the override of this id in the file."""
    for section in ("backends", "overrides"):
        items = document.node(section)
        for index, item in enumerate(
            items.value if items and isinstance(items.value, tuple) else ()
        ):
            child = item.child("id")
            if child is not None and child.value == backend:
                return (section, index)
    return None


def place(document: Document, backend: str, key: str) -> Origin:
    """Where the backend's value stands in the file."""
    return document.origin(*(entry(document, backend) or ()), key)


def _ways(
    document: Document, found: Keys | None, backend: str, key: str, value: Value
) -> Iterator[tuple[Splice, ...]]:
    """Every way to write the change, the nicest first."""
    if found is not None:
        node = document.node(*found, key)
        if node is None:
            yield from _key(document, found, key, value)
        else:
            yield (Splice(node.start, node.end, _scalar(value)),)
        return
    overrides = document.node("overrides")
    if overrides is None:
        yield from _section(document, backend, key, value)
    elif document.text[overrides.start] == "[":
        yield from _flow_item(document, overrides, backend, key, value)
    else:
        yield from _block_item(document, overrides, backend, key, value)


def _key(document: Document, found: Keys, key: str, value: Value) -> Iterator[tuple[Splice, ...]]:
    """A key more in a mapping: after its id, else before everything in it."""
    text, mapping, name = document.text, document.node(*found), document.node(*found, "id")
    assert mapping is not None
    assert name is not None
    pair = _pair(places.quote_of_key(document, *found, "id"), key, value)
    if text[mapping.start] == "{":
        yield (_insert(name.end, f", {pair}"),)
        yield (_insert(mapping.start + 1, f"{pair}, "),)
        return
    indent = " " * (mapping.column - 1)
    end = places.line_end(text, name.end)
    yield (_insert(end, f"{places.line_break(text, end)}{indent}{pair}"),)
    yield (_insert(mapping.start, f"{pair}{places.line_break(text, mapping.start)}{indent}"),)


def _flow_item(
    document: Document, overrides: Node, backend: str, key: str, value: Value
) -> Iterator[tuple[Splice, ...]]:
    """An item more in `[…]`: on a line of its own where the last one has one."""
    text, items = document.text, overrides.value
    assert isinstance(items, tuple)
    if not items:
        quote = places.quote_of_key(document, "overrides")
        yield (_insert(overrides.start + 1, _item(backend, key, value, quote, quote)),)
        return
    last = items[-1]
    new = _item(backend, key, value, *_quotes(document, len(items) - 1))
    rest = places.REST_OF_LINE.match(text, last.end)
    indent = places.indent(text, last.start)
    if rest is not None and rest.end() < overrides.end and indent is not None:
        line = f"{places.line_break(text, rest.end())}{indent}{new}"
        if rest.group("comma"):
            yield (_insert(rest.end(), f"{line},"),)
        else:
            yield (_insert(last.end, ","), _insert(rest.end(), line))
    yield (_insert(last.end, f", {new}"),)


def _block_item(
    document: Document, overrides: Node, backend: str, key: str, value: Value
) -> Iterator[tuple[Splice, ...]]:
    """An item more in a list of `- ` lines: after the last one, else before the first one."""
    text, items = document.text, overrides.value
    assert isinstance(items, tuple)
    last, column = items[-1], overrides.column
    key_quote, value_quote = _quotes(document, len(items) - 1)
    gap = last.column - column - 1
    if gap < 1 or text[last.start - gap - 1] != "-":
        gap = 1
    indent = " " * (column - 1)
    end = places.line_end(text, places.content_end(document, last))
    ending = places.line_break(text, end)
    if text[last.start] == "{":
        new = _item(backend, key, value, key_quote, value_quote)
    else:
        name = f"{key_quote}id{key_quote}: {_text(backend, value_quote)}"
        new = f"{name}{ending}{indent} {' ' * gap}{_pair(key_quote, key, value)}"
    new = f"-{' ' * gap}{new}"
    yield (_insert(end, f"{ending}{indent}{new}"),)
    yield (_insert(overrides.start, f"{new}{ending}{indent}"),)


def _section(
    document: Document, backend: str, key: str, value: Value
) -> Iterator[tuple[Splice, ...]]:
    """`overrides` with its first item: at the end of the file, else after `kind`."""
    text, root, kind = document.text, document.root, document.node("kind")
    assert kind is not None
    quote = places.quote_of_key(document, "kind")
    new = _item(backend, key, value, quote, quote)
    name = f"{quote}overrides{quote}"
    if text[root.start] == "{":
        yield (_insert(kind.end, f", {name}: [{new}]"),)
        return
    end = len(text)
    ending = places.line_break(text, end)
    indent = " " * (root.column - 1)
    body = f"{indent}{name}:{ending}{indent}  - {new}"
    if text.endswith(("\n", "\r")):
        if not places.ends_in_blank_line(text):
            yield (_insert(end, f"{ending}{body}{ending}"),)
        yield (_insert(end, f"{body}{ending}"),)
    else:
        yield (_insert(end, f"{ending}{ending}{body}"),)
    end = places.line_end(text, kind.end)
    yield (_insert(end, f"{places.line_break(text, end)}{body}"),)


def _insert(at: int, text: str) -> Splice:
    return Splice(at, at, text)


def _item(backend: str, key: str, value: Value, key_quote: str, value_quote: str) -> str:
    name = f"{key_quote}id{key_quote}: {_text(backend, value_quote)}"
    return f"{{{name}, {_pair(key_quote, key, value)}}}"


def _pair(quote: str, key: str, value: Value) -> str:
    return f"{quote}{key}{quote}: {_scalar(value)}"


def _quotes(document: Document, index: int) -> tuple[str, str]:
    """How the override that stands there quotes its keys, and its id."""
    name = document.node("overrides", index, "id")
    assert name is not None
    start = document.text[name.start]
    return (
        places.quote_of_key(document, "overrides", index, "id"),
        start if start in places.QUOTES else "",
    )


def _text(backend: str, quote: str) -> str:
    """An id or a path; one that YAML would not read as text, such as `no`, is quoted."""
    if not quote and read(backend) != backend:
        quote = '"'
    return f"{quote}{backend}{quote}"


def _scalar(value: Value) -> str:
    return _text(value, "") if isinstance(value, str) else str(value).lower()


def _same(node: Node | None, value: Value) -> bool:
    return node is not None and type(node.value) is type(value) and node.value == value


def _wanted(
    document: Document, found: Keys | None, backend: str, key: str, value: Value
) -> list[Any]:
    """The values that the new text may have: a new override may stand first or last."""
    tree = document.root.plain()
    if found is not None:
        section, index = found
        items = list(tree[section])
        items[int(index)] = {**items[int(index)], key: value}
        return [_plain({**tree, section: tuple(items)})]
    new, old = {"id": backend, key: value}, tuple(tree.get("overrides", ()))
    return [_plain({**tree, "overrides": one}) for one in ((*old, new), (new, *old))]


def _plain(tree: Any) -> Any:
    """Values to be compared: 1, 1.0 and true differ, and the order of keys does not matter."""
    if isinstance(tree, dict):
        return {name: _plain(one) for name, one in tree.items()}
    if isinstance(tree, tuple):
        return tuple(map(_plain, tree))
    return (type(tree).__name__, repr(tree))
