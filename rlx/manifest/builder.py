"""Parser events to nodes, with a stack of our own; what has more than one reading is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from rlx.manifest import scalars
from rlx.manifest.faults import show
from rlx.manifest.nodes import Entry, Node
from rlx.manifest.syntax import FLATTER, MAX_DEPTH, TOO_DEEP
from rlx.manifest.text import escaped_control
from rlx.origin import Origin

if TYPE_CHECKING:
    from rlx.manifest.faults import Faults

MAX_VALUES = 100_000
_SPELL_OUT = "write the value out where it is needed."


class _Frame:
    """A list or mapping that is still open; `key` waits for its value."""

    __slots__ = ("entries", "items", "key", "key_node", "start")

    def __init__(self, start: Any, mapping: bool):
        self.start = start
        self.entries: dict[str, Entry] | None = {} if mapping else None
        self.items: list[Node] = []
        self.key_node: Node | None = None
        self.key: str | None = None


class Builder:
    """Takes events one by one; `open` turns False where reading on makes no sense."""

    def __init__(self, text: str, faults: Faults):
        self.text = text
        self.faults = faults
        self.open = True
        self.root: Node | None = None
        self._stack: list[_Frame] = []
        self._values = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        """Add one event: a value, the start or end of a list or mapping, or of a document."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._refuse_properties(event)
            self._scalar(self._value(event), event)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._refuse_properties(event)
            self._push(event, kind is yaml.MappingStartEvent)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._pop(event)
        elif kind is yaml.AliasEvent:
            message = f"aliases are not allowed, got *{show(event.anchor)[1:-1]}"
            self._fault("yaml-alias", message, _SPELL_OUT, event)
            self._scalar(event.anchor, event)
        elif kind is yaml.DocumentStartEvent:
            self._documents += 1
            if self._documents > 1:
                message = "a manifest is one document, got another"
                self._fault(
                    "yaml-several-documents", message, "put it in a file of its own.", event
                )
                self.open = False

    def _fault(self, code: str, message: str, fix: str, event: Any) -> None:
        if self.faults.full:
            self.faults.count()
            return
        mark = event.start_mark
        self.faults.add(code, message, fix, (mark.line + 1, mark.column + 1))

    def _refuse_properties(self, event: Any) -> None:
        if event.anchor is not None:
            message = f"anchors are not allowed, got &{show(event.anchor)[1:-1]}"
            self._fault("yaml-anchor", message, _SPELL_OUT, event)
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            message = f"tags are not allowed, got {show(tag)[1:-1]}"
            self._fault("yaml-tag", message, "remove the tag; quote what must be text.", event)

    def _value(self, event: Any) -> scalars.Plain:
        """What a scalar means; a refused one is text, so that reading can go on."""
        value: str = event.value
        if event.style or event.tag is not None:
            control = escaped_control(value)
            if control is not None:
                message = f"control characters are not allowed, got an escape for {control}"
                self._fault("control-character", message, "remove it.", event)
            return value
        read = scalars.read(value)
        if isinstance(read, scalars.Refusal):
            self._fault(read.code, read.message, read.fix, event)
            return value
        return read

    def _scalar(self, value: scalars.Plain, event: Any) -> None:
        start, end = event.start_mark, event.end_mark
        line, column = start.line + 1, start.column + 1
        if start.index == end.index and self._stack:
            key = self._stack[-1].key_node
            if key is not None:  # nothing is written after the key: point at the key
                line, column = key.line, key.column
        self._place(Node(value, line, column, start.index, end.index), event)

    def _push(self, event: Any, mapping: bool) -> None:
        self._stack.append(_Frame(event.start_mark, mapping))
        if len(self._stack) > MAX_DEPTH:
            self._fault("yaml-too-deep", TOO_DEEP, FLATTER, event)
            self.open = False

    def _pop(self, event: Any) -> None:
        frame = self._stack.pop()
        start, end = frame.start, event.end_mark
        value: Any = tuple(frame.items) if frame.entries is None else frame.entries
        self._place(Node(value, start.line + 1, start.column + 1, start.index, end.index), event)

    def _place(self, node: Node, event: Any) -> None:
        """Put a finished value into its list, as a key, below its key, or at the root."""
        frame = self._stack[-1] if self._stack else None
        if frame is None:
            empty = node.value is None and node.start == node.end
            self.root = None if empty else node
        elif frame.entries is None:
            frame.items.append(node)
        elif frame.key_node is None:
            frame.key_node = node
            frame.key = self._key(node, frame.entries)
            return
        else:
            if frame.key is not None:
                entry = Entry(frame.key_node.line, frame.key_node.column, node)
                frame.entries[frame.key] = entry
                self._refuse_glued(frame.key_node, node)
            frame.key = frame.key_node = None
        self._values += 1
        if self._values > MAX_VALUES and self.open:
            message = f"a manifest may hold {MAX_VALUES} values, got more"
            self._fault("yaml-too-many-values", message, "split it into several files.", event)
            self.open = False

    def _key(self, node: Node, entries: dict[str, Entry]) -> str | None:
        """The key's text; None where it is not text or was there before: its value is dropped."""
        value = node.value
        if isinstance(value, str) and value not in entries:
            return value
        if self.faults.full:
            self.faults.count()
            return None
        place = (node.line, node.column)
        if not isinstance(value, str):
            written = show(self.text[node.start : node.end])[1:-1]
            fix = f"quote it: '{written}'." if written else "write a key before the colon."
            if isinstance(value, (dict, tuple)):
                written = "a mapping" if isinstance(value, dict) else "a list"
                fix = "write a plain key."
            message = f"a key must be text, got {written or 'nothing'}"
            self.faults.add("yaml-key-not-text", message, fix, place)
            return None
        first = entries[value]
        origin = Origin(self.faults.path, first.line, first.column, self.faults.layer)
        message = f"duplicate key {show(value)}, first written at {origin}"
        self.faults.add("yaml-duplicate-key", message, "keep one of them.", place, (origin,))
        return None

    def _refuse_glued(self, key: Node, node: Node) -> None:
        """`{e:1}` is the key `e:1` without a value: surely not what was meant."""
        if node.value is None and node.start == node.end == key.end and isinstance(key.value, str):
            head, colon, tail = self.text[key.start : key.end].partition(":")
            if colon and head and tail:
                message = f"the key {show(key.value)} has no value"
                fix = f"write a blank after the colon: {show(f'{head}: {tail}')[1:-1]}."
                place = (key.line, key.column)
                self.faults.add("yaml-key-without-value", message, fix, place)
