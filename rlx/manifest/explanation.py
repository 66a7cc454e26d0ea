"""Pydantic's errors to faults: it says where something is wrong, and we say what."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from rlx.manifest import wording
from rlx.manifest.coverage_models import INLINE_TAG, PATH_TAG
from rlx.manifest.faults import show
from rlx.manifest.schema import describe

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from rlx.manifest.faults import Faults
    from rlx.manifest.models import ManifestModel
    from rlx.manifest.nodes import Document, Node

Place = tuple[int | str, ...]
_TRIED = 10
"""So many unknown keys of a mapping are compared with what is missing: comparing is slow."""
_TYPES: dict[str, Any] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": tuple,
    "object": dict,
}
_described = cache(describe)


class Explainer:
    """Turns pydantic's errors for one document into faults."""

    def __init__(self, document: Document, model: type[ManifestModel], faults: Faults):
        self.document = document
        self.root = _described(model)
        self.faults = faults

    def explain(self, error: ValidationError) -> None:
        """Add a fault for each mistake; all that pydantic says of one mistake is one fault."""
        details = error.errors(include_url=False, include_context=False, include_input=False)
        misspelt = self._misspelt(details)
        above = {detail["loc"][:end] for detail in details for end in range(len(detail["loc"]))}
        for detail in details:
            loc, kind = detail["loc"], detail["type"]
            if loc in above:
                continue  # an item is wrong: that the list lacks it then is no mistake more
            if self.faults.full:
                self.faults.count()
            elif kind == "missing":
                if loc not in misspelt:  # the key is there, misspelt: one mistake, one fault
                    self._missing(loc)
            elif kind == "extra_forbidden":
                self._unknown(loc)
            elif loc[-1:] == ("[key]",):
                self._empty_key(loc)
            else:
                self._wrong(loc)

    def _misspelt(self, details: list[ErrorDetails]) -> set[Place]:
        """The missing keys that an unknown key beside them was meant to be."""
        parents = {detail["loc"][:-1]: 0 for detail in details if detail["type"] == "missing"}
        found: set[Place] = set()
        for detail in details:
            parent = detail["loc"][:-1]
            if detail["type"] == "extra_forbidden" and parents.get(parent, _TRIED) < _TRIED:
                parents[parent] += 1
                found.add((*parent, self._meant(detail["loc"]) or ""))
        return found

    def _meant(self, loc: Place) -> str | None:
        """The key that an unknown one was surely meant to be: near, and not there already."""
        node, schema, _ = self._walk(loc[:-1])
        there = node.value if isinstance(node.value, dict) else {}
        free = [key for key in schema.get("properties", {}) if key not in there]
        return wording.nearest(str(loc[-1]), free)

    def _walk(self, loc: Place) -> tuple[Node, dict[str, Any], str]:
        """The node, the schema and the name of the place that pydantic means."""
        node, schema, name = self.document.root, wording.resolve(self.root, self.root), "a manifest"
        for step in loc:
            child = None
            if step in (PATH_TAG, INLINE_TAG):
                wanted = "string" if step == PATH_TAG else "object"
                variants = [wording.resolve(one, self.root) for one in schema["oneOf"]]
                chosen = next(one for one in variants if one["type"] == wanted)
                schema = wording.illustrated(chosen, schema, lambda sample: sample)
                continue
            child = node.child(step)
            if child is None:
                break
            above = schema
            if isinstance(step, int):
                name = name if name.startswith("an item of ") else f"an item of {name}"
                schema = schema.get("items", {})
            elif "properties" in schema:
                name, schema = step, schema["properties"][step]
            else:
                name, schema = f"{name}.{show(step)[1:-1]}", schema.get("additionalProperties", {})
            node = child
            schema = wording.illustrated(
                wording.resolve(schema, self.root), above, wording.first_part
            )
        return node, schema, name

    def _missing(self, loc: Place) -> None:
        node, schema, _ = self._walk(loc[:-1])
        key = str(loc[-1])
        wanted = wording.resolve(schema["properties"][key], self.root)
        example = wording.flow(wanted["examples"][0])
        message = f"{show(key)} is missing from this {schema['title']}"
        place = (node.line, node.column)
        self.faults.add("missing-key", message, f"add it, such as '{key}: {example}'.", place)

    def _unknown(self, loc: Place) -> None:
        key = str(loc[-1])
        near = self._meant(loc)
        _, schema, _ = self._walk(loc[:-1])
        known = ", ".join(schema.get("properties", {}))
        fix = f"did you mean {show(near)}?" if near else f"remove it; known here: {known}."
        place = self._key_place(loc)
        self.faults.add("unknown-key", f"unknown key {show(key)}", fix, place)

    def _empty_key(self, loc: Place) -> None:
        _, _, name = self._walk(loc[:-2])
        message = f"a key of {name} must be text that is not empty, got ''"
        self.faults.add("bad-value", message, "write a name.", self._key_place(loc[:-1]))

    def _wrong(self, loc: Place) -> None:
        node, schema, name = self._walk(loc)
        needed = wording.must_be(schema, self.root)
        code = "bad-value"
        if not _same_type(node.value, schema):
            code, needed = "wrong-type", wording.kind_only(needed)
        message = f"{name} must be {needed}, got {wording.got(node, self.document)}"
        fix = wording.advice(schema, self.root, node, self.document)
        _, parent, _ = self._walk(loc[:-1])
        if node.start == node.end and loc[-1] not in parent.get("required", ()):
            fix = f"{fix.removesuffix('.')}, or remove the key."
        self.faults.add(code, message, fix, (node.line, node.column))

    def _key_place(self, loc: Place) -> tuple[int, int]:
        keys = [step for step in loc if step not in (PATH_TAG, INLINE_TAG)]
        origin = self.document.key_origin(*keys)
        return (origin.line, origin.column)


def _same_type(value: object, schema: dict[str, Any]) -> bool:
    kind: object = schema.get("type", "string" if "enum" in schema or "const" in schema else "")
    if isinstance(value, bool) or not isinstance(kind, str):
        return kind == "boolean"
    types: type | tuple[type, ...] = _TYPES.get(kind, ())
    return isinstance(value, types)
