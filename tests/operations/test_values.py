"""Attribute values: what each type accepts, and floats that every YAML reads alike."""

import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.operations.values import accepts, expected, normalised, shortest, single_precision


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        ("INT", 3, 3),
        ("INT", -(2**63), -(2**63)),
        ("FLOAT", 0.1, 0.10000000149011612),
        ("FLOAT", 1, 1.0),
        ("FLOAT", math.inf, math.inf),
        ("FLOAT", 1e300, math.inf),
        ("STRING", "same", "same"),
        ("INTS", [1, 2], (1, 2)),
        ("INTS", (), ()),
        ("FLOATS", (1, 0.5), (1.0, 0.5)),
        ("STRINGS", ["a"], ("a",)),
    ],
)
def test_a_value_gets_the_form_that_nodes_have(kind, value, kept):
    found = normalised(kind, value)
    assert (found, type(found)) == (kept, type(kept))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("INT", True),
        ("INT", 1.0),
        ("INT", "1"),
        ("INT", None),
        ("INT", 2**63),
        ("INT", [1]),
        ("FLOAT", True),
        ("FLOAT", math.nan),
        ("FLOAT", "1"),
        ("STRING", 1),
        ("STRING", b"a"),
        ("INTS", 1),
        ("INTS", "12"),
        ("INTS", [1, 2.0]),
        ("INTS", [[1]]),
        ("TENSOR", 1),
        ("GRAPH", None),
    ],
)
def test_a_value_of_another_type_is_refused(kind, value):
    assert not accepts(kind, value)


def test_types_have_words():
    kinds = ("INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS", "GRAPH")
    assert [expected(kind) for kind in kinds] == [
        "an integer",
        "a number",
        "text",
        "a list of integers",
        "a list of numbers",
        "a list of text",
        None,
    ]


@settings(deadline=None, max_examples=200)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_shortest_text_is_the_inverse(value):
    text = shortest(value)
    assert single_precision(float(text)) == value
    assert yaml.safe_load(text) == float(text)


@settings(deadline=None, max_examples=100)
@given(st.floats(allow_nan=False))
def test_keeping_a_value_twice_changes_nothing(value):
    once = normalised("FLOAT", value)
    assert normalised("FLOAT", once) == once
