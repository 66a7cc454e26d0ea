"""Faults: at most 100 of a file are shown, and each is one line."""

from rlx.errors import Fault
from rlx.manifest.faults import Faults, limited, show
from rlx.origin import Origin


def faults(path: str, count: int) -> list[Fault]:
    return [Fault("code", "wrong", "mend it.", Origin(path, line + 1, 1)) for line in range(count)]


def test_100_faults_are_shown_and_101_are_counted():
    collected = Faults("f.yaml")
    for line in range(100):
        collected.add("code", "wrong", "mend it.", (100 - line, 1))
    assert [fault.origin.line for fault in collected.listed()] == list(range(1, 101))
    assert collected.full
    collected.count()
    assert str(collected.listed()[-1]) == (
        "f.yaml: … and 1 more. Fix: correct those above, then run `rlx validate` again."
    )


def test_the_limit_is_for_each_file_and_may_be_applied_twice():
    once = limited([*faults("a.yaml", 102), *faults("b.yaml", 100)])
    assert [fault.origin.path for fault in once].count("b.yaml") == 100
    assert str(once[-1]).startswith("a.yaml: … and 2 more.")
    assert limited(once) == once


def test_a_quoted_value_is_short_and_visible():
    assert show("a\x00b") == "'a\\x00b'"
    assert show("x" * 60) == f"'{'x' * 60}'"
    assert show("x" * 61) == f"'{'x' * 59}…'"
