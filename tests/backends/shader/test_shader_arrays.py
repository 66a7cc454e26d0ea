"""Lazy arrays computed on the device give what NumPy gives, at every dtype that shaders have."""

import ml_dtypes
import numpy as np
import pytest

import rlx.backends.shader.namespace as xp
from rlx.errors import ExecutionError

SPECIAL = np.array(
    [
        *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, -0.3, 3, 1e-4, 0.9999, 100, -100, 1e10),
        *(3.4e38, -3.4e38, 1e5, 88.5, 2.9e-39, -1e-42),
    ],
    np.float32,
)
UNARY = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "exp", "log", "expm1", "log1p")},
    **{name: getattr(np, name) for name in ("sinh", "cosh", "tanh", "sqrt", "floor", "ceil")},
    **{name: getattr(np, name) for name in ("trunc", "sign", "isnan", "isinf", "isfinite")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "tanh")},
    "acosh": np.arccosh,
    "abs": np.abs,
    "negative": np.negative,
    "round": np.rint,
    "reciprocal": np.reciprocal,
}
BINARY = {
    name: getattr(np, name)
    for name in (
        *("add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "fmod"),
    )
}
INTEGERS = ("int8", "int64", "uint16", "uint32", "uint64")
DTYPES = ("int8", "int64", "uint16", "uint32", "bool", "float16", "float32")


def integers(dtype):
    limits = np.iinfo(dtype)
    some = [limits.min, limits.max, 0, 1, 2, 3, 7, limits.max // 3, limits.max - 1, limits.min + 1]
    return np.array([*some, -1, -7] if limits.min else some, dtype)


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_floats_is_numpys_at_special_values_too(run, name):
    """The largest angles, subnormal numbers, NaN and infinities are among them."""
    with np.errstate(all="ignore"):
        expected = UNARY[name](SPECIAL)
    found = run(getattr(xp, name), SPECIAL)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_function_of_integers_is_numpys_to_the_bit(run, name, dtype):
    """All pairs of the ends and of some between, which wrap around; nothing divides by zero."""
    values = integers(dtype)
    a, b = np.repeat(values, len(values)), np.tile(values, len(values))
    if name in ("floor_divide", "remainder", "fmod"):
        a, b = a[b != 0], b[b != 0]
    with np.errstate(all="ignore"):
        expected = BINARY[name](a, b)
    found = run(getattr(xp, name), a, b)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["multiply", "divide", "less", "greater_equal", "equal", "pow"])
def test_a_function_of_two_floats_is_numpys_at_all_pairs_of_special_values(run, name):
    """Subnormal divisors and factors among them."""
    a, b = np.repeat(SPECIAL, len(SPECIAL)), np.tile(SPECIAL, len(SPECIAL))
    with np.errstate(all="ignore"):
        expected = {"pow": np.power}.get(name, getattr(np, name, None))(a, b)
    found = run(getattr(xp, name), a, b)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-30)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_results_are_rounded_to_the_narrow_floats(run, dtype):
    """Halves go to even, what is too large to infinity, what is too small in steps to zero."""
    values = np.array([1.0, 1 / 3, 65504, 1e-7, 3e-8, 2049, 0.1, -5.96e-8, 12345], np.float32)
    x = values.astype(dtype)
    with np.errstate(all="ignore"):
        expected = (x * x + x).astype(dtype)
    found = run(lambda a: xp.add(xp.multiply(a, a), a), x)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_a_cast_is_numpys(run, source, target):
    """Whole numbers that both can hold, and integers that wrap around."""
    values = np.array([0, 1, 2, 100]).astype(source)
    if source in INTEGERS and target in INTEGERS:
        values = integers(source)
    found = run(lambda x: xp.astype(x, getattr(xp, target)), values)
    np.testing.assert_array_equal(found, values.astype(target))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_a_float_that_an_integer_cannot_hold_becomes_the_lowest(run, dtype):
    """Of 64 or 32 bits, from which narrower ones are cut; as on the processors of NumPy's."""
    values = np.array([np.nan, np.inf, -np.inf, 2.0**63, -(2.0**63), -(2.0**31), 5.5, -5.5])
    wide = "int64" if dtype == "int64" else "int32"
    lost = np.array([n in (0, 1, 2, 3) or (n == 4 and wide == "int32") for n in range(8)])
    kept = np.where(lost, 0, values).astype(wide)
    expected = np.where(lost, np.iinfo(wide).min, kept).astype(dtype)
    found = run(lambda x: xp.astype(x, getattr(xp, dtype)), values.astype(np.float32))
    np.testing.assert_array_equal(found, expected)


MOVED = {
    "permute": (lambda x: xp.permute_dims(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    "reversed": (lambda x: x[:, ::-1, 1::2], lambda x: x[:, ::-1, 1::2]),
    "flattened": (lambda x: xp.reshape(x.T, (-1,)), lambda x: x.T.reshape(-1)),
    "tiled": (lambda x: xp.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3))),
    "joined": (
        lambda x: xp.concat([x, x + 1.0] * 5, axis=1),
        lambda x: np.concatenate([x, x + 1] * 5, 1),
    ),
    "rolled": (lambda x: xp.roll(x, 2, axis=2), lambda x: np.roll(x, 2, 2)),
    "lower": (lambda x: xp.tril(x, k=-1), lambda x: np.tril(x, -1)),
    "repeated": (lambda x: xp.repeat(x, 3, axis=1), lambda x: np.repeat(x, 3, 1)),
    "summed": (lambda x: xp.sum(x, axis=(0, 2)), lambda x: x.sum((0, 2))),
    "largest": (lambda x: xp.max(x, axis=1, keepdims=True), lambda x: x.max(1, keepdims=True)),
    "placed": (lambda x: xp.argmin(x, axis=2), lambda x: x.argmin(2)),
    "ordered": (lambda x: xp.argsort(x, axis=2), lambda x: np.argsort(x, 2, kind="stable")),
    "running": (lambda x: xp.cumulative_sum(x, axis=1), lambda x: np.cumsum(x, 1)),
    "diagonal": (
        lambda x: xp.einsum("iij->ij", x[:, :2]),
        lambda x: np.einsum("iij->ij", x[:, :2]),
    ),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_moves_or_reduces_elements_is_numpys(run, name):
    """Shapes, orders, parts, sums and places."""
    x = np.random.default_rng(0).standard_normal((2, 3, 5)).astype(np.float32)
    ours, theirs = MOVED[name]
    expected = theirs(x)
    found = run(ours, x)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "shapes", [((3, 5), (5, 4)), ((2, 1, 40, 33), (3, 33, 50)), ((300, 20), (20, 270))]
)
def test_a_product_of_matrices_is_numpys_with_and_without_tiles(run, shapes):
    """Of sizes that tiles do not fill, and broadcast ones."""
    draw = np.random.default_rng(0)
    a, b = (draw.standard_normal(shape).astype(np.float32) for shape in shapes)
    np.testing.assert_allclose(run(xp.matmul, a, b), a @ b, rtol=1e-4, atol=1e-4)


def test_updates_by_index_keep_the_last_and_sums_take_all(run):
    """Places may be named twice, and counted from the end."""
    x = np.zeros((4, 2), np.float32)
    at = np.array([1, -1, 1])
    new = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    found = run(lambda x, at, new: x.at[at].set(new), x, at, new)
    assert found.tolist() == [[0, 0], [5, 6], [0, 0], [3, 4]]
    found = run(lambda x, at, new: x.at[at].add(new), x, at, new)
    assert found.tolist() == [[0, 0], [6, 8], [0, 0], [3, 4]]


def test_an_index_outside_the_array_is_an_error(run):
    """Memory outside is never read; the run says so when it ends."""
    x, at = np.arange(3, dtype=np.float32), np.array([0, 3])
    with pytest.raises(ExecutionError, match="an index is outside the array that it picks from"):
        run(lambda x, at: xp.take(x, at, axis=0), x, at)
