"""RegexFullMatch reads RE2's syntax, matches whole strings, and takes time linear in the text."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import pytest

from rlx.errors import Unavailable

BOOL = onnx.TensorProto.BOOL
pytestmark = pytest.mark.needs("re2")

MATCHES = [
    ("", "", True),
    ("a|bc", "bc", True),
    ("(?s)a.c", "a\nc", True),
    (r"\x{1F600}", "\U0001f600", True),
    ("(?i)k", "\u212a", True),
    ("(?P<x>a)(?:c)", "ac", True),
    ("a", "ab", False),
    ("a", "ba", False),
    ("a.c", "a\nc", False),
    ("a$", "a\n", False),
    (r"\d", "\u0663", False),
    (r"\w", "\u00e9", False),
    ("(a*)*b", "a" * 50_000, False),
]
WRONG = ["(", "a)", "*a", "a{3,2}", "[z-a]", r"\1", "(?=a)", "(" * 2000]


@pytest.mark.parametrize(("pattern", "text", "expected"), MATCHES)
def test_it_matches_the_whole_string_or_not(pattern, text, expected, run_typed):
    x = np.array([text], object)
    (found,) = run_typed("RegexFullMatch", {"pattern": pattern}, [x], [BOOL])
    assert found.tolist() == [expected]


@pytest.mark.parametrize("pattern", WRONG, ids=lambda pattern: pattern[:20])
def test_what_is_not_re2s_is_refused_when_it_is_compiled(pattern, run_typed):
    with pytest.raises(NotImplementedError, match="is no pattern of RE2's: "):
        run_typed("RegexFullMatch", {"pattern": pattern}, [np.array(["a"], object)], [BOOL])


def test_without_the_library_it_is_said_what_to_install(monkeypatch, run_typed):
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(Unavailable) as caught:
        run_typed("RegexFullMatch", {"pattern": "a"}, [np.array(["a"], object)], [BOOL])
    assert str(caught.value) == (
        "node 'RegexFullMatch_0': RegexFullMatch needs google-re2, which is not installed. "
        "Fix: pip install 'rlx[text]'."
    )
