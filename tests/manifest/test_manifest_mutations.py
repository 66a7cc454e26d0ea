"""Each field of the shipped manifests, spoilt alone: the error points at that very place."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from rlx import resources
from rlx.errors import ConfigError
from rlx.manifest import parse, shape
from rlx.manifest.models import KINDS
from rlx.manifest.schema import describe
from rlx.manifest.wording import resolve

MANIFESTS = Path(__file__).parent.parent / "manifests"
SHIPPED = [
    resources.configs() / "backends.yaml",
    resources.configs() / "operations.yaml",
    resources.configs() / "tolerances.yaml",
    *sorted(resources.configs().glob("coverage/*.yaml")),
]
FILES = [*SHIPPED, *sorted(MANIFESTS.glob("valid/*.yaml"))]
ITEMS = 6
"""Of long lists of operations or rows the first ones are spoilt: the others are alike."""


@dataclass(frozen=True)
class Mutation:
    """A spoilt text, and the offset in it that the fault must point at."""

    what: str
    text: str
    offset: int
    code: tuple[str, ...]


class Mutator:
    """All mutations of one document; `fields` are the (schema title, key) pairs it met."""

    def __init__(self, text, document):
        self.text, self.document = text, document
        self.root = describe(KINDS[document.root.child("kind").value])
        self.fields = set()

    def all(self):
        yield from self.value(self.document.root, resolve(self.root, self.root), "")

    def splice(self, start, end, new):
        return self.text[:start] + new + self.text[end:]

    def value(self, node, schema, path):
        """Mutations of a value and of all below it."""
        wrong = wrong_values(schema)
        if "oneOf" in schema:
            wanted = "object" if isinstance(node.value, dict) else "string"
            variants = [resolve(one, self.root) for one in schema["oneOf"]]
            schema = next(one for one in variants if one["type"] == wanted)
        if path and node.start != node.end:
            yield from self.wrong_types(node, wrong, path)
        if isinstance(node.value, dict):
            yield from self.mapping(node, schema, path)
        elif isinstance(node.value, tuple) and isinstance(schema.get("items"), dict):
            for index, item in enumerate(node.value):
                yield from self.value(item, resolve(schema["items"], self.root), f"{path}[{index}]")

    def wrong_types(self, node, values, path):
        written = self.text[node.start : node.end]
        tail = written[len(written.rstrip()) :]
        for wrong in values:
            text = self.splice(node.start, node.end, wrong + tail)
            codes = ("wrong-type", "bad-value", "unknown-kind", "unknown-api-version")
            yield Mutation(f"{path} = {wrong}", text, node.start, codes)

    def mapping(self, node, schema, path):
        known = schema.get("properties")
        entries = list(node.value.items())
        flow = self.text[node.start] == "{"
        for position, (key, entry) in enumerate(entries):
            start = offset_of(self.text, entry.line, entry.column)
            place = f"{path}.{key}"
            end = start + len(key)
            if self.text[start:end] != key or self.text[:start].endswith("? "):
                continue  # quoted, or `? key`
            if known is not None:
                self.fields.add((schema["title"], key))
                text = self.splice(start, end, key + key[-1])
                yield Mutation(f"{place} misspelt", text, start, ("unknown-key",))
                if key in schema.get("required", ()) and (flow or len(entries) > 1):
                    text = self.without(entries, position, flow)
                    yield Mutation(f"{place} missing", text, node.start, ("missing-key",))
            indent = " " * (entry.column - 1)
            twice = f"{key}: 0, " if flow else f"{key}: 0\n{indent}"
            text = self.splice(start, start, twice)
            yield Mutation(f"{place} twice", text, start + len(twice), ("yaml-duplicate-key",))
            sub = known[key] if known is not None else schema["additionalProperties"]
            yield from self.value(entry.node, resolve(sub, self.root), place)

    def without(self, entries, position, flow):
        entry = entries[position][1]
        start = offset_of(self.text, entry.line, entry.column)
        if position + 1 < len(entries):
            after = entries[position + 1][1]
            return self.splice(start, offset_of(self.text, after.line, after.column), "")
        if flow:
            before = entries[position - 1][1].node.end if position else start
            return self.splice(before, entry.node.end, "")
        written = self.text[start : entry.node.end].rstrip()
        comment = re.compile(r"[^\r\n]*").match(self.text, start + len(written))
        return self.splice(start, comment.end(), "")


def wrong_values(schema):
    """Values of a wrong type for a schema, written so that they fit both styles."""
    kind = schema.get("type")
    if "oneOf" in schema:
        return ["5", "true", "[x]"]
    if kind == "string" or "enum" in schema or "const" in schema:
        return ["5", "true", "[x]", "{x: 1}"]
    if kind in ("integer", "number"):
        return ["'5'", "true", "[5]", "{x: 1}", "-1"]
    if kind == "boolean":
        return ["1", "'true'", "[true]", "{x: 1}"]
    if kind in ("array", "object"):
        return ["5", "'x'", "{x: 1}" if kind == "array" else "[x]"]
    return ["{x: 1}", "[{x: 1}]"]


def offset_of(text, line, column):
    """The offset of a line and column, worked out without the parser."""
    offset = 0
    for _ in range(line - 1):
        while text[offset] not in "\r\n":
            offset += 1
        offset += 2 if text.startswith("\r\n", offset) else 1
    return offset + column - 1


def place_of(text, offset):
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def read(path):
    text = path.read_bytes().decode("utf-8-sig")
    document = parse(text.encode(), path.name)
    items = document.root.child("operations") or document.root.child("rows")
    if items is not None and len(items.value) > ITEMS:
        text = text[: items.value[ITEMS].start].rstrip(" -\n") + "\n"
        document = parse(text.encode(), path.name)
    return text, document


def faults_of(mutation):
    with pytest.raises(ConfigError) as caught:
        shape.check(parse(mutation.text.encode(), "f.yaml"))
    return caught.value.faults


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_mutation_gives_one_fault_at_its_very_place(path, record_property):
    mutations = list(Mutator(*read(path)).all())
    record_property("mutations", len(mutations))
    for mutation in mutations:
        faults = faults_of(mutation)
        found = [(f.code in mutation.code, f.origin.line, f.origin.column) for f in faults]
        expected = [(True, *place_of(mutation.text, mutation.offset))]
        assert found == expected, (mutation.what, [str(fault) for fault in faults])


def test_the_mutations_are_many_and_reach_every_field_of_every_model():
    count, met = {}, set()
    for path in FILES:
        mutator = Mutator(*read(path))
        count[path] = len(list(mutator.all()))
        met |= mutator.fields
    known = set()
    for model in KINDS.values():
        body = describe(model)
        for one in (body, *body["$defs"].values()):
            known |= {(one["title"], key) for key in one["properties"]}
    assert met == known
    assert count[SHIPPED[0]] >= 500
    assert sum(count.values()) >= 2000
    print(f"{sum(count.values())} mutations, {count[SHIPPED[0]]} of the shipped backends.yaml")
