"""No text crashes the parser, and what is written is what is read."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.errors import ConfigError
from rlx.manifest import parse, shape

TOKENS = [
    *(
        "a",
        "kind",
        "apiVersion",
        "rlx/v1",
        "Backends",
        "backends",
        "id",
        "rank",
        "no",
        "012",
        "1e3",
    ),
    *(": ", ":", "- ", "\n", "\n  ", "\n    ", " ", "\t", "[", "]", "{", "}", ", ", '"', "'", "#"),
    *("&x", "*x", "!t", "|", ">", "?", "%", "---\n", "...\n", "<<", "\\x00", "\\", "\r", "é"),
    *("\ufeff", "\u2028"),
]
SAFE = st.characters(
    exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\u2028\u2029\ufffe\uffff"
)
TEXT = st.text(SAFE, max_size=12)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**39), 10**39),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=25,
)


def survives(data: bytes) -> None:
    try:
        shape.check(parse(data, "f.yaml"))
    except ConfigError as error:
        lines = str(error).split("\n")
    else:
        lines = ["f.yaml"]
    assert all(line.startswith("f.yaml") and line.isprintable() for line in lines)


@settings(deadline=None, max_examples=400)
@given(st.binary(max_size=200))
def test_no_bytes_crash_the_parser(data):
    survives(data)


@settings(deadline=None, max_examples=400)
@given(st.text(max_size=200))
def test_no_text_crashes_the_parser(text):
    survives(text.encode("utf-8", "surrogatepass"))


@settings(deadline=None, max_examples=700)
@given(st.lists(st.sampled_from(TOKENS), max_size=40), st.booleans())
def test_no_sequence_of_yaml_tokens_crashes_the_parser(tokens, head):
    start = "apiVersion: rlx/v1\nkind: Backends\n" if head else ""
    survives((start + "".join(tokens)).encode())


def scalar(value: object) -> str:
    """As YAML 1.2 text that YAML 1.1 reads alike."""
    if isinstance(value, float):
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e")
    return json.dumps(value, ensure_ascii=False)


def flow(tree: object) -> str:
    if isinstance(tree, list):
        return "[" + ", ".join(map(flow, tree)) + "]"
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(one)}" for key, one in tree.items()) + "}"
    return scalar(tree)


def block(tree: object, indent: str = "") -> str:
    """The text after a key's colon or an item's dash."""
    if isinstance(tree, list) and tree:
        return "".join(f"\n{indent}-{block(one, indent + '  ')}" for one in tree)
    if isinstance(tree, dict) and tree:
        pairs = tree.items()
        return "".join(f"\n{indent}{scalar(k)}:{block(one, indent + '  ')}" for k, one in pairs)
    return f" {flow(tree)}"


def tupled(tree: object) -> object:
    if isinstance(tree, list):
        return tuple(map(tupled, tree))
    return {key: tupled(one) for key, one in tree.items()} if isinstance(tree, dict) else tree


@pytest.mark.parametrize("write", [flow, block])
@settings(deadline=None, max_examples=300)
@given(tree=st.lists(TREES, min_size=1, max_size=3))
def test_what_is_written_is_read_back(write, tree):
    assert repr(parse(write(tree).encode(), "f.yaml").root.plain()) == repr(tupled(tree))
