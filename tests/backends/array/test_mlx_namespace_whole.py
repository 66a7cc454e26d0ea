"""MLX's namespace on whole arrays: reductions, orders, picking, products and shapes."""

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
    extremes,
    namespace,
    to_host,
)

pytestmark = pytest.mark.needs("mlx")


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


SHAPES = st.sampled_from([(3,), (2, 3), (2, 1, 4), (0, 3), (2, 0)])


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
@PRECISE
@given(data=st.data())
def test_totals(dtype, name, data):
    """Sums and products wrap around in the dtype asked for, along any axis."""
    elements = st.integers(0, 100) if np.dtype(dtype).kind in "iu" else st.floats(-8, 8, width=16)
    x = data.draw(hnp.arrays(dtype, SHAPES, elements=elements))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    wanted = getattr(np, name)(x, axis=axis, dtype=x.dtype)
    found = getattr(namespace(), name)(as_native(x), axis=axis, dtype=as_native(x).dtype)
    assert_same(found, wanted)


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "all", "any"])
@PRECISE
@given(data=st.data())
def test_choices_along_an_axis(dtype, name, data):
    """Extremes let NaN through, and the first of several places is found."""
    x = data.draw(arrays(dtype, st.sampled_from([(3,), (2, 3), (2, 1, 4)])))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    keep = data.draw(st.booleans())
    wanted = getattr(np, name)(x, axis=axis, keepdims=keep)
    assert_same(getattr(namespace(), name)(as_native(x), axis=axis, keepdims=keep), wanted)


@pytest.mark.parametrize("dtype", EVERY)
@PRECISE
@given(data=st.data())
def test_orders(dtype, data):
    """Sorting is stable in both directions, with NaN at the end."""
    x = data.draw(arrays(dtype, st.sampled_from([(7,), (2, 5), (5, 2)])))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    xp = namespace()
    order = np.argsort(x, axis=axis, stable=True)
    assert_same(xp.argsort(as_native(x), axis=axis), order)
    assert_same(xp.sort(as_native(x), axis=axis), np.take_along_axis(x, order, axis))
    flipped = np.argsort(np.flip(x, axis=axis), axis=axis, stable=True)
    down = x.shape[axis] - 1 - np.flip(flipped, axis=axis)
    assert_same(xp.argsort(as_native(x), axis=axis, descending=True), down)


@pytest.mark.parametrize("dtype", EVERY)
@PRECISE
@given(data=st.data())
def test_places_of_what_is_not_zero(dtype, data):
    """Places are listed by axis, in row-major order."""
    x = data.draw(arrays(dtype, st.sampled_from([(4,), (2, 3), (0, 2)])))
    for found, wanted in zip(namespace().nonzero(as_native(x)), np.nonzero(x), strict=True):
        assert_same(found, wanted)


@pytest.mark.parametrize("dtype", NUMBERS)
@PRECISE
@given(data=st.data())
def test_taking(dtype, data):
    """Indices of any integer dtype pick along any axis, negative ones from the end."""
    x = data.draw(arrays(dtype, st.sampled_from([(4,), (4, 3), (2, 4, 1)])))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    size = x.shape[axis]
    at = data.draw(hnp.arrays(np.int64, (3,), elements=st.integers(-size, size - 1)))
    xp = namespace()
    assert_same(xp.take(as_native(x), as_native(at), axis=axis), np.take(x, at, axis))
    along = np.argsort(x, axis=axis)
    found = xp.take_along_axis(as_native(x), as_native(along), axis=axis)
    assert_same(found, np.take_along_axis(x, along, axis))


def test_an_index_outside_is_noticed():
    """MLX would read what lies past the array; here the index is moved inside, and noted."""
    from rlx.backends.array.mlx_namespace.indexing import flags

    xp = namespace()
    flags.taken()
    found = xp.take(as_native(np.asarray([1, 2, 3])), as_native(np.asarray([7, -9, 1])), axis=0)
    assert [found.tolist(), [flag.item() for flag in flags.taken()]] == [[3, 1, 2], [True]]


@pytest.mark.parametrize("source", EVERY)
@PRECISE
@given(data=st.data())
def test_conversions(source, data):
    """Conversion keeps what the other dtype holds, wraps integers and rounds floats."""
    x = data.draw(arrays(source))
    target = data.draw(st.sampled_from(EVERY))
    kind, floating = np.dtype(target).kind, np.dtype(source).kind == "f"
    if floating and kind in "iu":  # what is out of range has no defined value
        limits = np.iinfo(target)
        x = np.nan_to_num(np.clip(np.nan_to_num(x.astype(np.float64)), limits.min, limits.max))
        x = np.where(np.abs(x) < 2.0**60, np.trunc(x), 0).astype(source)
        x = np.where(np.isfinite(x) & (x >= limits.min) & (x <= limits.max), x, 0).astype(source)
    xp = namespace()
    assert_same(xp.astype(as_native(x), getattr(xp, target)), x.astype(target))


@pytest.mark.parametrize("dtype", NUMBERS)
@PRECISE
@given(data=st.data())
def test_matrix_products(dtype, data):
    """Products of integers wrap around; those of floats are sums of products."""
    elements = extremes(dtype) if dtype in INTEGERS else st.floats(-4, 4, width=16)
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((4, 2, 3), (3, 5)), ((2, 0), (0, 3))]
    one, two = data.draw(st.sampled_from(shapes))
    x = data.draw(hnp.arrays(dtype, one, elements=elements))
    y = data.draw(hnp.arrays(dtype, two, elements=elements))
    assert_same(namespace().matmul(as_native(x), as_native(y)), np.matmul(x, y))


REARRANGED = {
    "moved": lambda xp, x: xp.moveaxis(x, (0, -1), (1, 0)),
    "turned": lambda xp, x: xp.permute_dims(x, (2, 0, 1)),
    "squeezed": lambda xp, x: xp.squeeze(x, axis=(1,)),
    "flipped": lambda xp, x: xp.flip(x, axis=(0, 2)),
    "repeated": lambda xp, x: xp.repeat(x, 2, axis=2),
    "tiled": lambda xp, x: xp.tile(x, (2, 1, 3)),
    "stacked": lambda xp, x: xp.stack((x, x), axis=-1),
    "joined": lambda xp, x: xp.concat((x, x[:, :, :1]), axis=2),
    "rolled": lambda xp, x: xp.roll(x, (1, 2), axis=(0, 2)),
    "upper": lambda xp, x: xp.triu(xp.squeeze(x, axis=1), k=1),
    "lower": lambda xp, x: xp.tril(xp.squeeze(x, axis=1), k=-1),
    "clipped": lambda xp, x: xp.clip(x, x[:, :, :1], x[:1, ...]),
    "chosen": lambda xp, x: xp.where(x == x[:1, ...], x, xp.zeros_like(x)),
    "reshaped": lambda xp, x: xp.reshape(x, (-1, 2)),
    "backwards": lambda xp, x: x[:, ::-1, -2::-2],
}


@pytest.mark.parametrize("dtype", [*EVERY, "complex64"])
@pytest.mark.parametrize("name", REARRANGED)
def test_rearranging(name, dtype):
    """Shapes, orders and choices are NumPy's on every dtype."""
    if dtype == "complex64" and name == "clipped":
        pytest.skip("complex numbers have no order")
    x = (np.arange(8) % 5).reshape(2, 1, 4).astype(dtype)
    make = REARRANGED[name]
    assert_same(make(namespace(), as_native(x)), make(np, x))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_limits_of_dtypes(dtype):
    """Limits are Python's numbers, equal to NumPy's."""
    xp = namespace()
    kind = getattr(xp, dtype)
    ours, theirs = (
        (xp.finfo(kind), np.finfo(dtype)) if dtype in FLOATS else (xp.iinfo(kind), np.iinfo(dtype))
    )
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_integer_can_fill(dtype):
    """MLX's own `full` and `array` stop at 63 bits."""
    xp, limits = namespace(), np.iinfo(dtype)
    for value in (limits.min, limits.max):
        assert_same(xp.full((2,), value, dtype=getattr(xp, dtype)), np.full((2,), value, dtype))
        assert_same(xp.asarray(value, dtype=getattr(xp, dtype)), np.asarray(value, dtype))


def test_a_dtype_that_mlx_lacks_is_refused():
    """Nothing is narrowed in passing."""
    with pytest.raises(NotImplementedError, match=r"^mlx has no dtype complex128$"):
        as_native(np.zeros(1, np.complex128))


def test_what_is_missing_is_said_to_be():
    """An attribute that is not there names the library."""
    with pytest.raises(AttributeError, match=r"^mlx has no frexp$"):
        _ = namespace().frexp


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less", "equal", "sign", "floor"])
@PRECISE
@given(data=st.data())
def test_bfloat16(name, data):
    """Its arithmetic is ml_dtypes', to the bit."""
    import ml_dtypes

    values = st.sampled_from([0.0, -0.0, 1, -1.5, 3.140625, 1e30, -1e-30, np.inf, -np.inf, np.nan])
    x, y = (np.asarray(data.draw(st.lists(values, min_size=4, max_size=4))) for _ in range(2))
    x, y = x.astype(ml_dtypes.bfloat16), y.astype(ml_dtypes.bfloat16)
    operands = (x,) if name in {"sign", "floor"} else (x, y)
    found = to_host(getattr(namespace(), name)(*map(as_native, operands)))
    wanted = getattr(np, name)(*operands)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))
