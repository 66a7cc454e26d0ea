"""Products by tiles, by slices of their terms, and by themselves; fours of neighbours at once."""

from dataclasses import replace

import numpy as np
import pytest

import rlx.backends.shader.namespace as xp
from rlx.backends.shader import products
from rlx.backends.shader.schedule import works
from rlx.backends.shader.tensor import Tensor
from rlx.backends.shader.tiles import Tiling

SHAPES = [
    ((32, 256), (256, 48)),
    ((1, 200), (200, 130)),
    ((3, 70), (70, 5)),
    ((2, 17, 67), (2, 67, 33)),
    ((2, 1, 64), (2, 64, 9)),
    ((49, 130), (130, 51)),
    ((20, 20), (20, 20)),
    ((5, 7), (7, 3)),
]


def drawn(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_a_product_and_what_follows_are_right(run, shapes):
    """Whatever way its shape takes, and at every edge."""
    a, b = (drawn(*shape) for shape in shapes)
    bias = drawn(b.shape[-1])
    found = run(lambda x, y, z: xp.tanh(xp.matmul(x, y) * 0.1 + z), a, b, bias)
    np.testing.assert_allclose(found, np.tanh(a @ b * 0.1 + bias), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("shapes", [((64, 64), (64, 96)), ((70, 37), (37, 66))], ids=str)
def test_large_tiles_are_right(driver, run, monkeypatch, shapes):
    """Smaller ones that are made alike, for long kernels take long to compile on a processor."""
    tiling = Tiling(32, 32, 8, 4, 4, group=4, spare=4, ahead=True)
    monkeypatch.setattr(products, "LARGE", tiling)
    monkeypatch.setattr(products, "MANY_LARGE", 1)
    monkeypatch.setattr(driver, "limits", replace(driver.limits, patient=True))
    a, b = (drawn(*shape) for shape in shapes)
    np.testing.assert_allclose(run(xp.matmul, a, b), a @ b, rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(
        run(lambda x, y: xp.matmul(x, y) + x[:1, :1], a, b), a @ b + a[:1, :1], rtol=1e-4, atol=2e-5
    )


def layer_norm(x, weight):
    count = float(x.shape[-1])
    off = x - xp.sum(x, axis=-1, keepdims=True) / count
    return off / xp.sqrt(xp.sum(off * off, axis=-1, keepdims=True) / count + 1e-5) * weight


def expected_norm(x, weight):
    off = x - x.mean(-1, keepdims=True)
    return off / np.sqrt((off * off).mean(-1, keepdims=True) + 1e-5) * weight


@pytest.mark.parametrize("length", [384, 512, 100, 1000], ids=str)
def test_rows_are_right_whether_they_are_kept_or_read_again(run, length):
    """Those of 384 and 512 divide by fours of whole groups."""
    x, weight = drawn(7, length), drawn(length)
    found = run(layer_norm, x, weight)
    np.testing.assert_allclose(found, expected_norm(x, weight), rtol=1e-4, atol=1e-5)


def test_a_sum_of_each_row_alone_is_right(run):
    """One element is made of a row that is kept."""
    x = drawn(7, 384)
    found = run(lambda x: xp.sum(xp.exp(x - xp.max(x, axis=-1, keepdims=True)), axis=-1), x)
    np.testing.assert_allclose(found, np.exp(x - x.max(-1, keepdims=True)).sum(-1), rtol=1e-5)


FOURS = {
    "elements": (lambda x: x + 1.0, ["f32x4", "f32x4"]),
    "truths": (lambda x: x > 0.5, ["f32x4", "u32x4"]),
    "a line for all rows": (lambda x: x * x[0], ["f32x4", "f32x4"]),
    "another order as well": (lambda x: x + x.T, ["f32", "f32x4"]),
    "a part": (lambda x: x[:, 4:] + 1.0, ["f32x4", "f32x4"]),
    "a part off the fours": (lambda x: x[:, 3:-1] + 1.0, ["f32", "f32x4"]),
}


@pytest.mark.parametrize("name", FOURS)
def test_elements_are_read_by_fours_where_they_are_neighbours(driver, run, name):
    """And else one by one; the result is the same."""
    make, types = FOURS[name]
    x = drawn(512, 512)
    (made,) = works([make(Tensor.of_source(x))], driver.limits)
    assert [one.type for one in made.kernel.buffers] == types
    np.testing.assert_array_equal(run(make, x), make(x))
