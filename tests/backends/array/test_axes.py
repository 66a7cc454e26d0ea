"""Axes are moved as NumPy moves them."""

from itertools import permutations

import numpy as np
import pytest

from rlx.backends.array.axes import moved


@pytest.mark.parametrize("source", [0, -1, 2, (0, 1), (2, 0), (-1, -3), ()])
def test_the_order_is_numpys(source):
    x = np.zeros((2, 3, 5, 7))
    count = 1 if isinstance(source, int) else len(source)
    for found in permutations(range(-4, 0), count):
        target = found[0] if isinstance(source, int) else found
        order = moved(x.ndim, source, target)
        assert np.transpose(x, order).shape == np.moveaxis(x, source, target).shape
