"""The excerpt: carets stand in the cells of what is meant, whatever stands before it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.cli.reports.excerpt import ROOM, excerpt


@pytest.mark.parametrize(
    ("line", "column", "end", "shown", "carets"),
    [
        ("rank: high", 7, 11, "rank: high", "      ^^^^"),
        ("rank: high", 11, 12, "rank: high", "          ^"),
        ("", 1, 2, "", "^"),
        ("a: 漢字 x", 4, 6, "a: 漢字 x", "   ^^^^"),
        ("漢字: x", 5, 6, "漢字: x", "      ^"),
        ("e\u0301e\u0301: x", 7, 8, "e\u0301e\u0301: x", "    ^"),
        ("\ta:\tx", 5, 6, "    a:    x", "          ^"),
        ("a: \x07x", 4, 5, "a: \\x07x", "   ^^^^"),
        ("a: \x1b[31mx", 10, 11, "a: \\x1b[31mx", "            ^"),
        ("a: \u200bx", 5, 6, "a: \\u200bx", "         ^"),
        ("a: \u202ex", 4, 5, "a: \\u202ex", "   ^^^^^^"),
        ("a: \udcffx", 4, 5, "a: \\xffx", "   ^^^^"),
        ("a: 😀x", 5, 6, "a: 😀x", "     ^"),
    ],
)
def test_carets_stand_below_what_is_meant(line, column, end, shown, carets):
    assert excerpt(line, column, end) == (shown, carets)


@pytest.mark.parametrize(
    ("encoding", "shown", "carets"),
    [
        ("utf-8", "é: 漢", "   ^^"),
        ("latin-1", "é: \\u6f22", "   ^^^^^^"),
        ("ascii", "\\xe9: \\u6f22", "      ^^^^^^"),
    ],
)
def test_what_a_console_lacks_is_an_escape_and_counts_as_one(encoding, shown, carets):
    assert excerpt("é: 漢", 4, 5, encoding) == (shown, carets)


def test_a_long_line_is_cut_around_the_column():
    line = "a" * 500 + "HERE" + "b" * 500
    shown, carets = excerpt(line, 501, 505)
    assert shown == "..." + "a" * 50 + "HERE" + "b" * 22 + "..."
    assert carets == " " * 53 + "^^^^"


@pytest.mark.parametrize(
    ("column", "shown", "carets"),
    [
        (1, "x" * 76 + "...", "^"),
        (200, "..." + "x" * 76, " " * 78 + "^"),
        (201, "..." + "x" * 76, " " * 79 + "^"),
    ],
)
def test_the_ends_of_a_long_line_are_shown_to_the_end(column, shown, carets):
    assert excerpt("x" * 200, column, column + 1) == (shown, carets)


def test_a_heap_of_marks_that_take_no_room_is_cut_as_well():
    shown, carets = excerpt("a" + "\u0301" * 100_000 + "b", 1, 2)
    assert len(shown) < 4 * ROOM
    assert carets == "^"


@given(
    st.text(st.characters(exclude_characters="\r\n"), max_size=200), st.integers(1, 210), st.data()
)
def test_an_excerpt_is_printable_and_short_and_the_caret_stands_in_it(line, column, data):
    end = data.draw(st.integers(column, column + 20))
    shown, carets = excerpt(line, column, end)
    assert all(char.isprintable() for char in shown)
    assert carets.lstrip(" ").strip("^") == ""
    assert "^" in carets
    widest = 2 * len(unicodedata.normalize("NFC", shown)) + 1
    assert len(carets) <= min(widest, ROOM + 10) or column > len(line)
