"""What a value must be and what to write instead, in words, from the JSON Schema of its place."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from rlx.manifest.faults import LONGEST, show

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rlx.manifest.nodes import Document, Node

Schema = dict[str, Any]

_FILLED = " that is not empty"
_NOUNS = {"string": "text", "boolean": "true or false", "array": "a list", "object": "a mapping"}
_BOOLEANS = {"yes": "true", "on": "true", "true": "true"} | {
    "no": "false",
    "off": "false",
    "false": "false",
}
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")


def resolve(schema: Schema, root: Schema) -> Schema:
    """Follow a reference, and leave out that null is allowed as well."""
    while True:
        if "$ref" in schema:
            schema = {**root["$defs"][schema["$ref"].rsplit("/", 1)[1]], **_notes(schema)}
        elif (
            len(kept := [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]) == 1
        ):
            schema = {**kept[0], **_notes(schema)}
        else:
            return schema


def _notes(schema: Schema) -> Schema:
    return {key: schema[key] for key in ("examples", "description") if key in schema}


def illustrated(schema: Schema, above: Schema, part: Callable[[Any], Any]) -> Schema:
    """The schema with an example, taken from the one of the place above where it has none."""
    if "examples" in schema or not above.get("examples"):
        return schema
    example = part(above["examples"][0])
    return schema if example is None else {**schema, "examples": [example]}


def first_part(sample: Any) -> Any:
    """The first item of a list, the first value of a mapping."""
    parts = list(sample.values()) if isinstance(sample, dict) else sample
    return parts[0] if isinstance(parts, list) and parts else None


def must_be(schema: Schema, root: Schema) -> str:
    """What a value of the schema is called."""
    schema = resolve(schema, root)
    if "const" in schema:
        return show(str(schema["const"]))
    if "enum" in schema:
        return one_of(schema["enum"])
    if "oneOf" in schema or "anyOf" in schema:
        variants = schema.get("oneOf") or schema["anyOf"]
        words = [must_be(one, root) for one in variants]
        return (", or " if "," in words[0] else " or ").join(words)
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        return "text, a number, true, false or null"
    if kind == "array" and isinstance(schema["items"].get("type"), list):
        return "a list of these"
    if kind in ("integer", "number"):
        return _range("an integer" if kind == "integer" else "a number", schema)
    empty = schema.get("minLength", schema.get("minItems"))
    return _NOUNS[kind] + (_FILLED if empty else "")


def _decimal(number: float) -> str:
    """A number as one writes it by hand: 0.00001, not 1e-05."""
    return f"{number:.12f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)


def kind_only(words: str) -> str:
    """What a value must be, for one that has not even the type."""
    return words.replace(_FILLED, "")


def one_of(choices: Sequence[Any]) -> str:
    """The choices, in words."""
    return str(choices[0]) if len(choices) == 1 else f"one of {', '.join(map(str, choices))}"


def _range(noun: str, schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{noun} from {_decimal(low)} to {_decimal(high)}"
    if low is not None:
        return f"{noun} of {low} or more"
    if "exclusiveMinimum" in schema:
        return f"{noun} above {schema['exclusiveMinimum']:g}"
    return noun


def got(node: Node, document: Document) -> str:
    """The value found, as it was written."""
    value = node.value
    if isinstance(value, str):
        return show(value)
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, tuple):
        inner = {type(item.value) for item in value}
        if dict in inner or tuple in inner:
            return "a list of mappings" if dict in inner else "a list of lists"
        return "a list" if value else "an empty list"
    return show(document.source(node))[1:-1] or "nothing"


def advice(schema: Schema, root: Schema, node: Node, document: Document) -> str:
    """What to write instead of a value that is wrong."""
    schema = resolve(schema, root)
    value, kind = node.value, schema.get("type")
    choices = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
    if choices:
        near = nearest(value, choices) if isinstance(value, str) else None
        return f"did you mean {show(near)}?" if near else f"write {one_of(choices)}."
    if isinstance(value, str):
        found = _meant(value, schema)
        if found:
            return found
    if kind == "string" and isinstance(value, (bool, int, float)):
        return f"quote it: {show(document.source(node))}."
    noun = "a number" if kind in ("integer", "number") else kind_only(must_be(schema, root))
    example = f", such as {flow(schema['examples'][0])}" if "examples" in schema else ""
    if kind == "boolean" or "anyOf" in schema:
        example = ""
    return f"write {noun}{example}."


def _meant(text: str, schema: Schema) -> str | None:
    """Advice for text where something else was surely meant."""
    kind = schema.get("type")
    if len(text) > LONGEST:
        return None
    if kind in ("integer", "number") and _fits(text, kind):
        return f"write {text} without quotes."
    if kind == "boolean" and text.lower() in _BOOLEANS:
        return f"write {_BOOLEANS[text.lower()]} without quotes."
    if kind == "array" and text and schema["items"].get("type") == "string":
        return f"write a list: [{flow(text)}]."
    head, colon, tail = text.partition(":")
    if kind == "object" and colon and head in schema.get("properties", ()):
        return f"write a blank after the colon: {show(f'{head}: {tail}')[1:-1]}."
    return None


def _fits(text: str, kind: str) -> bool:
    pattern = r"0|[1-9][0-9]*" if kind == "integer" else r"(0|[1-9][0-9]*)(\.[0-9]+)?"
    return re.fullmatch(pattern, text, re.ASCII) is not None


def nearest(word: str, known: Any) -> str | None:
    """The known word that is most like this one, if any is."""
    names = [str(one) for one in known]
    lower = {name.lower(): name for name in reversed(names)}
    found = difflib.get_close_matches(word[:100].lower(), lower, n=1, cutoff=0.6)
    return lower[found[0]] if found else None


def flow(value: Any) -> str:
    """A value as one would write it in YAML, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        if _BARE.fullmatch(value) and value.lower() not in _WORDS:
            return value
        return f'"{show(value)[1:-1]}"' if "'" in value else show(value)
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    return _decimal(value)


_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
