"""Narrow dtypes, that ONNX stores: what shaders make of numbers is what ml_dtypes makes of them."""

import numpy as np
import pytest

import rlx.backends.shader.namespace as xp
from rlx.backends.array.dtypes import numpy_dtype
from rlx.backends.shader.dtypes import BY_NAME, NARROW
from rlx.backends.shader.narrow import FORMATS

EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
"""Every float16: all values, and all halves between them, of what is narrower."""
MORE = np.random.default_rng(3).integers(0, 1 << 32, 4096, np.uint32).view(np.float32)


def at_most(name):
    """Numbers that the dtype's neighbours in ONNX do not disagree about: NaN where it has none."""
    values = np.concatenate([EVERY.astype(np.float32), MORE])
    return values if FORMATS[name].beyond is not None else values[~np.isnan(values)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_float_is_rounded_to_a_narrow_one(run, name):
    """Halves to even; too large ones become infinite, NaN or the largest, as the format has it."""
    values = at_most(name)
    with np.errstate(all="ignore"):
        expected = values.astype(numpy_dtype(name))
    found = run(lambda x: xp.astype(x, BY_NAME[name]), values)
    assert found.dtype == expected.dtype
    same = found.view(np.uint8) == expected.view(np.uint8)
    lost = np.isnan(found.astype(np.float32)) & np.isnan(expected.astype(np.float32))
    assert (same | lost).all()


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_all_values_of_a_narrow_dtype_go_in_and_out(run, dtype):
    """To float32, and back from memory as they were."""
    codes = np.arange(1 << dtype.bits, dtype=np.uint8)
    values = codes.view(dtype.numpy)
    np.testing.assert_array_equal(
        run(lambda x: xp.astype(x, xp.float32), values), values.astype(np.float32)
    )
    kept = run(lambda x: x[::-1], values)
    assert kept.dtype == values.dtype
    np.testing.assert_array_equal(kept.astype(np.float32), values[::-1].astype(np.float32))


@pytest.mark.parametrize("dtype", [one for one in NARROW if one.kind != "float"], ids=str)
def test_integers_are_cut_to_narrow_ones(run, dtype):
    """They wrap around."""
    values = np.arange(-300, 300, dtype=np.int32)
    expected = values.astype(np.int8).astype(dtype.numpy)
    found = run(lambda x: xp.astype(x, dtype), values)
    np.testing.assert_array_equal(found.astype(np.int32), expected.astype(np.int32))
