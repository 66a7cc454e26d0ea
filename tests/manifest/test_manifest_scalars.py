"""Plain scalars: what is accepted means the same to every YAML parser."""

import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.manifest.scalars import Refusal, read

WORDS = st.text("0123456789+-_.:eExXoObBaAfFyYnNsStTrRuUlL~=<iIzZ ", min_size=1, max_size=12)
SHAPES = st.from_regex(
    r"\A[-+]?(0[box]?)?[0-9_]{0,4}([.:][0-9_]{0,3}){0,3}([eE][-+]?[0-9]{1,3})?\Z"
)


def same(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    return one == other or (isinstance(one, float) and math.isnan(one))


@settings(deadline=None, max_examples=700)
@given(st.one_of(WORDS, SHAPES, st.sampled_from(["yes", "NULL", "True", "off", "2001-01-01"])))
def test_an_accepted_plain_scalar_is_read_alike_by_a_yaml_1_1_parser(text):
    value = read(text)
    if isinstance(value, Refusal) or text != text.strip() or ": " in text or text[-1:] in ":":
        return
    try:
        old = yaml.safe_load(f"[{text!s}]")
    except (yaml.YAMLError, ValueError):
        return  # not a plain scalar at all, or a date that does not exist
    assert same(old[0], value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None), ("nULL", "nULL"),
        ("true", True), ("True", True), ("TRUE", True), ("tRUE", "tRUE"), ("false", False),
        ("0", 0), ("-0", 0), ("+12", 12), ("0x1F", 31), ("0o17x", "0o17x"), ("_1", "_1"),
        ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1.0e+3", 1000.0), ("-2.5E-3", -0.0025),
        ("2.4.1", "2.4.1"), ("12:99", "12:99"), ("v1", "v1"), ("1a", "1a"), ("٣", "٣"),
        ("0b", "0b"), ("-", "-"), (".", "."), ("e1", "e1"), ("1e", "1e"), ("9" * 40, int("9" * 40)),
    ],
)  # fmt: skip
def test_the_core_schema(text, value):
    assert same(read(text), value)


@pytest.mark.parametrize("text", ["-0o17", "-_1", "+_", "._", "._1", "0_E2", "1__.5e3", "0o_"])
def test_text_that_some_readers_take_for_a_number_is_refused(text):
    refusal = read(text)
    assert refusal.code == "yaml-ambiguous-scalar"
    assert refusal.fix == f"quote it: '{text}'."


def test_a_number_with_underscores_is_refused():
    assert read("1_").message == "1_ without quotes is 1 in YAML 1.1 and text in YAML 1.2"


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.integers(-(10**39), 10**39), st.floats(allow_nan=False, allow_infinity=False)))
def test_what_a_refusal_tells_to_write_is_accepted(number):
    for text in (repr(number), f"0{number}".replace("0-", "-0")):
        value = read(text)
        if isinstance(value, Refusal) and "or write " in value.fix:
            advised = value.fix.split("or write ")[1].removesuffix(".")
            assert not isinstance(read(advised), Refusal)


@pytest.mark.parametrize(
    ("text", "readings", "instead"),
    [
        ("1e3", "text in YAML 1.1 and 1000.0 in YAML 1.2", "1000"),
        ("-2.e1", "text in YAML 1.1 and -20.0 in YAML 1.2", "-20"),
        ("15e-1", "text in YAML 1.1 and 1.5 in YAML 1.2", "1.5"),
        ("1e300", "text in YAML 1.1 and 1.0e+300 in YAML 1.2", "1.0e+300"),
    ],
)
def test_a_whole_number_is_advised_as_an_integer(text, readings, instead):
    assert read(text) == Refusal(
        "yaml-ambiguous-scalar",
        f"{text} without quotes is {readings}",
        f"quote it: '{text}', or write {instead}.",
    )


def test_an_integer_too_long_for_python_is_refused():
    assert read("1" * 5000) == Refusal(
        "yaml-long-integer",
        "an integer may have 40 digits, got one of 5000",
        "write a smaller number, or quote it where text is meant.",
    )
