"""Edit distances and the nearest name."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.spelling import distance, nearest


def test_a_swap_of_neighbours_is_one_edit():
    assert distance("RLX_DEIVCE", "RLX_DEVICE", 2) == 1


def test_the_nearest_name_wins_and_ties_go_to_the_first():
    assert nearest("cuad", ["cuda", "cpu", "rocm"]) == "cuda"
    assert nearest("abcx", ["abcz", "abcy"]) == "abcy"


def test_a_short_name_may_be_one_edit_away_only():
    assert nearest("ab", ["xy"]) is None
    assert nearest("cpo", ["cpu"]) == "cpu"


def test_a_name_far_from_all_has_none():
    assert nearest("quantum", ["cpu", "cuda"]) is None
    assert nearest("x" * 10_000, ["cpu"]) is None


def slow(one, other):
    """The textbook recursion, without the swap."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        slow(one[1:], other) + 1,
        slow(one, other[1:]) + 1,
        slow(one[1:], other[1:]) + (one[0] != other[0]),
    )


@given(st.text("ab", max_size=5), st.text("ab", max_size=5))
@settings(deadline=None, max_examples=100)
def test_it_never_exceeds_the_distance_without_swaps(one, other):
    assert distance(one, other, 10) <= slow(one, other)
    assert distance(one, other, 10) == distance(other, one, 10)
    assert (distance(one, other, 10) == 0) == (one == other)


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
@settings(deadline=None, max_examples=100)
def test_a_limit_only_cuts_off(one, other):
    full = distance(one, other, 10)
    cut = distance(one, other, 2)
    assert cut == full if full <= 2 else cut > 2
