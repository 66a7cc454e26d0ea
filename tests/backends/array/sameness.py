"""Whether a result is the expected one: lists by their items, None, arrays with their dtypes."""

import numpy as np


def same(got, expected):
    if isinstance(expected, list):
        assert isinstance(got, list)
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            same(one, other)
    elif expected is None:
        assert got is None
    else:
        assert isinstance(got, np.ndarray)
        assert got.dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(got, expected, strict=True)
