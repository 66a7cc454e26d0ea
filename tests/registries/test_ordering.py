"""A rank beside another backend's: free where there is one, else what has to move."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.freeze.ordering import slot, stands
from rlx.registration import LAST_RANK, Registration


def order(**ranks):
    made = [Registration(id=name, device="cpu", target=name, rank=n) for name, n in ranks.items()]
    return sorted(made, key=lambda one: (one.rank, one.id))


@pytest.mark.parametrize(
    ("ranks", "where", "rank"),
    [
        ({"a": 100, "b": 200, "x": 900}, ("a", True), 50),
        ({"a": 100, "b": 200, "x": 900}, ("b", True), 150),
        ({"a": 100, "b": 102, "x": 1}, ("b", True), 101),
        ({"a": 100, "b": 102, "x": 101}, ("a", False), 101),
        ({"a": 100, "x": 1}, ("a", False), 200),
        ({"a": LAST_RANK - 1, "x": 1}, ("a", False), LAST_RANK),
        ({"a": 1, "x": 5}, ("a", True), 0),
        ({"a": 1, "b": 3, "x": 5}, ("a", False), 2),
    ],
)
def test_a_free_rank_lies_in_the_middle(ranks, where, rank):
    other, before = where
    assert slot(order(**ranks), "x", other, before=before).rank == rank


@pytest.mark.parametrize(
    ("ranks", "where", "moves"),
    [
        ({"a": 100, "b": 101, "x": 5}, ("b", True), [("b", 102)]),
        ({"a": 1, "b": 2, "c": 3, "d": 9, "x": 5}, ("a", False), [("c", 4), ("b", 3)]),
        ({"a": 7, "b": 7, "x": 5}, ("b", True), [("b", 9)]),
        ({"a": 0, "x": 5}, ("a", True), [("a", 1)]),
        ({"a": LAST_RANK, "x": 5}, ("a", False), [("a", LAST_RANK - 1)]),
        (
            {"a": LAST_RANK, "b": LAST_RANK, "c": 3, "x": 5},
            ("b", True),
            [("a", LAST_RANK - 2)],
        ),
    ],
)
def test_without_a_free_rank_it_says_what_moves(ranks, where, moves):
    other, before = where
    found = slot(order(**ranks), "x", other, before=before)
    assert (found.rank, list(found.moves)) == (None, moves)


RANKS = st.one_of(st.integers(0, 6), st.integers(LAST_RANK - 4, LAST_RANK))


@given(ranks=st.dictionaries(st.sampled_from("abcdefg"), RANKS, min_size=2), data=st.data())
def test_what_is_advised_works(ranks, data):
    one, other = data.draw(st.permutations(sorted(ranks)))[:2]
    before = data.draw(st.booleans())
    names = [name for name in (made.id for made in order(**ranks)) if name != one]
    found = slot(order(**ranks), one, other, before=before)
    if found.rank is None:
        ranks.update(found.moves)
        assert [made.id for made in order(**ranks) if made.id != one] == names
        found = slot(order(**ranks), one, other, before=before)
    assert found.rank is not None
    assert 0 <= found.rank <= LAST_RANK
    ranks[one] = found.rank
    assert stands(order(**ranks), one, other, before=before)
