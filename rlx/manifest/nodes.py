"""What a manifest's text parses to: values that know their line and column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rlx.origin import Origin

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """One value and its place.

    `value` is a scalar, a tuple of nodes (a list), or a dict from key to `Entry` (a mapping); the
    dict is private to the document and nobody may change it. Lines and columns count from 1;
    `start` and `end` are offsets into the document's text.
    """

    value: Scalar | tuple[Node, ...] | dict[str, Entry]
    line: int
    column: int
    start: int
    end: int

    def child(self, key: str | int) -> Node | None:
        """The value below a key or an index; None where there is none."""
        value = self.value
        if isinstance(value, dict) and isinstance(key, str):
            entry = value.get(key)
            return None if entry is None else entry.node
        if isinstance(value, tuple) and isinstance(key, int) and 0 <= key < len(value):
            return value[key]
        return None

    def plain(self) -> Any:
        """The value as Python's own types, lists as tuples. Parsing has bounded the depth."""
        value = self.value
        if isinstance(value, dict):
            return {key: entry.node.plain() for key, entry in value.items()}
        if isinstance(value, tuple):
            return tuple(node.plain() for node in value)
        return value


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping: the key's place, and the value."""

    line: int
    column: int
    node: Node


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: `path` is how messages name it, `text` what it holds, without a BOM."""

    path: str
    layer: str
    text: str
    root: Node

    def node(self, *keys: str | int) -> Node | None:
        """The value at a key path such as `("backends", 2, "rank")`; None where there is none."""
        node: Node | None = self.root
        for key in keys:
            if node is None:
                return None
            node = node.child(key)
        return node

    def source(self, node: Node) -> str:
        """The text that a value was written as; empty for a key that nothing follows."""
        return self.text[node.start : node.end]

    def origin(self, *keys: str | int) -> Origin:
        """The place of a value; what is not written has the place of its nearest parent."""
        node = self.root
        for key in keys:
            child = node.child(key)
            if child is None:
                break
            node = child
        return self.at(node.line, node.column)

    def key_origin(self, *keys: str | int) -> Origin:
        """The place of a key; a list's item has the place of its value."""
        parent = self.node(*keys[:-1])
        if keys and parent is not None and isinstance(parent.value, dict):
            entry = parent.value.get(str(keys[-1]))
            if entry is not None:
                return self.at(entry.line, entry.column)
        return self.origin(*keys)

    def at(self, line: int, column: int) -> Origin:
        """A place in this file."""
        return Origin(self.path, line, column, self.layer)
