"""Weights as bytes: what goes in comes out, and another length is refused."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.backends.stablehlo.weights import ALIGNMENT, pack, unpack

KINDS = (np.float32, np.int64, np.bool_, np.uint8, np.float16, ml_dtypes.bfloat16)
SHAPES = st.lists(st.integers(0, 5), max_size=3).map(tuple)
ARRAYS = st.lists(
    st.builds(
        lambda kind, shape, seed: np.asarray(
            np.random.default_rng(seed).integers(0, 9, shape)
        ).astype(kind),
        st.sampled_from(KINDS),
        SHAPES,
        st.integers(0, 99),
    ),
    max_size=5,
)


@given(ARRAYS)
def test_arrays_come_back_as_they_were(arrays):
    found = unpack(pack(arrays), [(x.dtype, x.shape) for x in arrays])
    for got, x in zip(found, arrays, strict=True):
        assert (got.dtype, got.shape, got.tobytes()) == (x.dtype, x.shape, x.tobytes())


@given(ARRAYS.filter(len))
def test_another_length_is_refused(arrays):
    data = pack(arrays)
    types = [(x.dtype, x.shape) for x in arrays]
    with pytest.raises(ValueError, match="the weights take another length than the"):
        unpack(data + b"\0", types)
    if data:
        with pytest.raises(ValueError, match="the weights take another length than the"):
            unpack(data[:-1], types)


def test_each_begins_where_a_processor_can_load_it():
    x = np.arange(3, dtype=np.float32)
    data = pack([x, x.astype(ml_dtypes.bfloat16)])
    assert data == x.tobytes() + bytes(ALIGNMENT - 12) + b"\x00\x00\x80\x3f\x00\x40"


def test_strided_arrays_are_written_in_c_order():
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert pack([x.T]) == np.array([0, 3, 1, 4, 2, 5], np.int32).tobytes()
