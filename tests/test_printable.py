"""`printable`: foreign text shows every character, on one line."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.errors import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 'text' \\ [bold]", "plain 'text' \\ [bold]"),
        ("für 日本 😀", "für 日本 😀"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\nb\r\tc\x85", "a\\nb\\r\\tc\\x85"),
        ("abc\u202ecba", "abc\\u202ecba"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("a\xa0b\u3164", "a\\xa0b\\u3164"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\u2028\u2029", "\\u2028\\u2029"),
    ],
)
def test_hidden_characters_become_escapes(text, shown):
    assert printable(text) == shown


@settings(deadline=None, max_examples=500)
@given(st.text())
def test_it_is_one_visible_line_that_can_be_encoded_and_does_not_change_again(text):
    shown = printable(text)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert printable(shown) == shown
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in shown)
