"""Places in an arena: what lives at once never meets, and offsets are aligned."""

from hypothesis import given
from hypothesis import strategies as st

from rlx.backends.shader.memory import Life, Place, laid_out

LIVES = st.lists(
    st.builds(
        lambda size, made, more: Life(size, made, made + more),
        st.integers(1, 5000),
        st.integers(0, 20),
        st.integers(0, 6),
    ),
    max_size=30,
)


@given(LIVES, st.sampled_from([32, 256]))
def test_arrays_that_live_at_once_do_not_meet(lives, alignment):
    """And each is inside its arena."""
    places, sizes = laid_out(lives, alignment, 1 << 20)
    for n, (one, at) in enumerate(zip(lives, places, strict=True)):
        assert at.offset % alignment == 0
        assert at.offset + one.size <= sizes[at.arena]
        for other, there in zip(lives[:n], places[:n], strict=True):
            at_once = one.made <= other.last and other.made <= one.last
            if at_once and at.arena == there.arena:
                apart = at.offset + one.size <= there.offset
                assert apart or there.offset + other.size <= at.offset


def test_a_place_is_used_again_after_the_last_read():
    """Three arrays in a row take the memory of two."""
    lives = [Life(64, 0, 1), Life(64, 1, 2), Life(64, 2, 3)]
    places, sizes = laid_out(lives, 64, 1 << 20)
    assert sizes == [128]
    assert places == [Place(0, 0), Place(0, 64), Place(0, 0)]


def test_an_arena_is_never_larger_than_a_buffer_may_be():
    """What does not fit goes into another."""
    _, sizes = laid_out([Life(100, 0, 5)] * 3, 4, 200)
    assert sizes == [200, 100]
