"""Regular expressions: RE2's syntax, Python's answers to what both read alike, linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.backends.array.regex import CACHE, Regex
from rlx.backends.array.regex_syntax import PatternError

YES = [
    ("", ""),
    ("a|bc", "bc"),
    ("a.c", "abc"),
    ("(?s)a.c", "a\nc"),
    ("a{2,3}", "aaa"),
    ("a{2,}?b", "aaaab"),
    ("a{,2}", "a{,2}"),
    ("x{a", "x{a"),
    ("[]a-c]*", "]abc"),
    ("[^]a]", "b"),
    ("[^a]", "\n"),
    (r"[\d\-x]+", "12-x"),
    ("[a-]+", "a-a"),
    ("[[:alpha:]_[:^upper:]]+", "aB_1"),
    (r"\w+\s\W", "ab_1 -"),
    (r"\pL\p{Nd}\PN\p{^Lu}", "é5xa"),
    (r"\x41\x{1F600}\101\0", "A\U0001f600A\0"),
    (r"\Qa.b\E+", "a.bbb"),
    (r"\Qa.b", "a.b"),
    (r"\bab\b", "ab"),
    (r"a\B\Bb", "ab"),
    (r"\B", ""),
    ("(?i)stra(?-i:SS)E", "STRASSe"),
    ("(?i)k", "\u212a"),
    ("(?i)[s]", "\u017f"),
    ("(?m)a$\n^b", "a\nb"),
    (r"\Aa\z", "a"),
    ("(?P<x>a)(?<y>b)(?:c)", "abc"),
    ("(a*)*", "aaa"),
    ("(a|b)*?c", "ababc"),
    ("(?:)", ""),
    ("(?U)a+", "aa"),
    (r"\p{Any}\.\/", "x./"),
]
NO = [
    ("a", "ab"),
    ("a", "ba"),
    ("a.c", "a\nc"),
    ("a$\nb", "a\nb"),
    ("a$", "a\n"),
    (r"\s", "\v"),
    (r"\d", "٣"),
    (r"\w", "é"),
    ("(?i)\\W", "s"),
    ("(?i)\\P{Lu}", "k"),
    (r"a\bb", "ab"),
    ("a{2}", "a"),
    ("[^a]", ""),
]
WRONG = {
    "(": "a '(' is not closed",
    "a)": "')' at 1 closes nothing",
    "*a": "the repetition before 1 repeats nothing",
    "a**": "the repetition before 3 repeats nothing",
    "a{2}{3}": "the repetition before 7 repeats nothing",
    "(|*)": "the repetition before 3 repeats nothing",
    "a{3,2}": "'{3,2}' repeats wrongly",
    "a{1001}": "'{1001}' repeats wrongly",
    "(a{100}){100}": "more than 1000 repetitions before 13",
    "[a": "the pattern ends too early",
    "[z-a]": "the range before 4 has no order",
    r"[a-\d]": "the range before 5 has no order",
    "[[:foo:]]": "there is no class [:foo:]",
    "\\": "the pattern ends too early",
    r"\1": r"'\1' before 2 is not supported",
    r"\C": r"'\C' before 2 is not supported",
    r"\p{Greek}": r"'\p{Greek}' is not a general category",
    r"\x{110000}": "'110000' is no character's number",
    r"\xg0": "'g0' is no character's number",
    "(?=a)": "'(?=' before 3 is not RE2's",
    "(?<=a)": "'(?<' before 3 is not RE2's",
    "(?#a)": "'(?#' before 3 is not RE2's",
    "(?P<>a)": "'' is no name of a group",
    "(?P<a>a)(?P<a>a)": "two groups are named 'a'",
    "(" * 201 + ")" * 201: "groups nest deeper than 200",
    r"(?:\pL{100}){10}" * 200: "it takes more than 100000 states",
}


@pytest.mark.parametrize(("pattern", "text"), YES)
def test_it_matches(pattern, text):
    assert Regex(pattern).fullmatch(text)


@pytest.mark.parametrize(("pattern", "text"), NO)
def test_it_does_not_match(pattern, text):
    assert not Regex(pattern).fullmatch(text)


@pytest.mark.parametrize("pattern", WRONG, ids=lambda pattern: pattern[:20])
def test_what_is_not_re2s_is_refused(pattern):
    with pytest.raises(PatternError) as caught:
        Regex(pattern)
    assert str(caught.value) == WRONG[pattern]


def parts(inner):
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "*?", "{2,}"])).map(
            "(?:{0[0]}){0[1]}".format
        ),
        inner.map("({})".format),
        inner.map("(?i:{})".format),
    )


ATOMS = [
    "a",
    "b",
    "-",
    ".",
    "[ab]",
    "[^a]",
    r"\d",
    r"\w",
    r"\s",
    r"\S",
    "[a-c-]",
    "^",
    r"\b",
    "(?s:.)",
]
PATTERNS = st.recursive(st.sampled_from(ATOMS), parts, max_leaves=6)


@settings(max_examples=400, deadline=None)
@given(PATTERNS, st.lists(st.text("abAC- 1\n", max_size=6), min_size=4, max_size=8))
def test_it_agrees_with_python_where_both_read_a_pattern_alike(pattern, texts):
    python, ours = re.compile(pattern, re.ASCII), Regex(pattern)
    for text in texts:
        assert ours.fullmatch(text) == bool(python.fullmatch(text)), text


@settings(max_examples=300, deadline=None)
@given(st.text("ab()[]{}|*+?.^$\\-,:=!<>P123pLdwQE", max_size=14), st.text("ab12", max_size=5))
def test_any_text_is_a_pattern_or_refused(pattern, text):
    try:
        regex = Regex(pattern)
    except PatternError:
        return
    assert regex.fullmatch(text) in (True, False)


@pytest.mark.parametrize(
    "pattern", ["(a*)*b", "(a|a)*b", "(a|aa)+b", "(?:a?){300}a{300}b", "(.*)*x"]
)
def test_hostile_patterns_take_time_linear_in_the_text(pattern):
    assert not Regex(pattern).fullmatch("a" * 3000)


def test_the_cache_of_moves_is_bounded():
    regex = Regex(r"\w*(?s:.)*")
    assert regex.fullmatch("".join(map(chr, range(32, 3 * CACHE))))
    assert regex._moves <= CACHE
    assert regex.fullmatch("ab")
