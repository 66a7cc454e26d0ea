"""MLX's namespace answers as NumPy does: every function, on extremes of every dtype it has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.backends.array.mlx_values import (
    EVERY,
    FLOATS,
    INTEGERS,
    NUMBERS,
    PRECISE,
    arrays,
    as_native,
    assert_same,
    namespace,
)

pytestmark = pytest.mark.needs("mlx")


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


ONE = {
    "abs negative sign": NUMBERS,
    "floor ceil trunc round": NUMBERS,
    "sqrt exp log expm1 log1p log2 log10": FLOATS,
    "sin cos tan asin acos atan": FLOATS,
    "sinh cosh tanh asinh acosh atanh": FLOATS,
    "isnan isinf isfinite logical_not": EVERY,
    "bitwise_invert": ("bool", *INTEGERS),
}
TWO = {
    "add subtract multiply maximum minimum": NUMBERS,
    "divide atan2 logaddexp": FLOATS,
    "floor_divide remainder fmod": NUMBERS,
    "equal not_equal less less_equal greater greater_equal": EVERY,
    "logical_and logical_or logical_xor": EVERY,
    "bitwise_and bitwise_or bitwise_xor": ("bool", *INTEGERS),
}


def rows(table):
    return [
        (name, dtype)
        for names, dtypes in table.items()
        for name in names.split()
        for dtype in dtypes
    ]


@pytest.mark.parametrize(("name", "dtype"), rows(ONE))
@PRECISE
@given(data=st.data())
def test_functions_of_one_array(name, dtype, data):
    """Functions of each element give NumPy's values on every dtype."""
    x = data.draw(arrays(dtype))
    wanted = getattr(np, name)(x)
    if name in {"round", "floor", "ceil", "trunc"}:
        wanted = np.asarray(wanted, dtype)
    assert_same(getattr(namespace(), name)(as_native(x)), wanted)


ALIASES = {"atan2": "arctan2"}


@pytest.mark.parametrize(("name", "dtype"), rows(TWO))
@PRECISE
@given(data=st.data())
def test_functions_of_two_arrays(name, dtype, data):
    """Functions of pairs broadcast and give NumPy's values on every dtype, zero divisors too."""
    x = data.draw(arrays(dtype))
    y = data.draw(arrays(dtype, st.sampled_from([(), (1,), x.shape])))
    wanted = getattr(np, ALIASES.get(name, name))(x, y)
    assert_same(getattr(namespace(), name)(as_native(x), as_native(y)), wanted)


@pytest.mark.parametrize("dtype", INTEGERS)
@PRECISE
@given(data=st.data())
def test_powers_of_integers_wrap(dtype, data):
    """Integer powers are exact and wrap around."""
    x = data.draw(arrays(dtype))
    y = data.draw(hnp.arrays(dtype, x.shape, elements=st.integers(0, 70)))
    assert_same(namespace().pow(as_native(x), as_native(y)), np.power(x, y))


@pytest.mark.parametrize("dtype", FLOATS)
@PRECISE
@given(data=st.data())
def test_powers_of_floats(dtype, data):
    """Float powers give NumPy's values where they do not cancel."""
    x = data.draw(arrays(dtype))
    y = data.draw(arrays(dtype, st.sampled_from([(), x.shape])))
    assert_same(namespace().pow(as_native(x), as_native(y)), np.power(x, y))


@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
@pytest.mark.parametrize("dtype", INTEGERS)
@PRECISE
@given(data=st.data())
def test_shifts_within_the_width(dtype, name, data):
    """Shifts by less than the width are NumPy's; kernels ask for no others."""
    x = data.draw(arrays(dtype))
    width = x.dtype.itemsize * 8
    y = data.draw(hnp.arrays(dtype, x.shape, elements=st.integers(0, width - 1)))
    assert_same(getattr(namespace(), name)(as_native(x), as_native(y)), getattr(np, name)(x, y))
