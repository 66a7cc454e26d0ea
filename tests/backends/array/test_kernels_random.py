"""Random numbers: their distribution, shape and dtype, and what a seed means."""

from __future__ import annotations

import math

import numpy as np
import onnx
import pytest

from rlx.backends.array.kernels.random import generator

T = onnx.TensorProto
MANY = 20_000
LIKE = np.zeros((MANY,), np.float32)


def distance(drawn, rises):
    """Kolmogorov and Smirnov's distance from a distribution, times the root of the count.

    Below 2.2 but for one time in ten thousand.
    """
    chances = np.array([rises(x) for x in np.sort(drawn).tolist()])
    return np.abs(chances - np.arange(MANY) / MANY).max() * math.sqrt(MANY)


def surprise(counts, chances):
    """Pearson's chi-square; below 18.4 but for one time in ten thousand, with up to 3 classes."""
    expected = MANY * np.array(chances)
    return ((counts - expected) ** 2 / expected).sum()


def test_normal_numbers_are_normal(run_typed):
    attributes = {"mean": 3.0, "scale": 2.0, "seed": 5.0}
    (made,) = run_typed("RandomNormal", attributes | {"shape": [MANY]}, [], [T.FLOAT])
    (like,) = run_typed("RandomNormalLike", attributes, [LIKE], [T.FLOAT])
    np.testing.assert_array_equal(made, like, strict=True)
    assert distance(made, lambda x: (1 + math.erf((x - 3) / math.sqrt(8))) / 2) < 2.2


def test_uniform_numbers_are_uniform(run_typed):
    attributes = {"low": -1.0, "high": 3.0, "seed": 5.0}
    (made,) = run_typed("RandomUniform", attributes | {"shape": [MANY]}, [], [T.FLOAT])
    (like,) = run_typed("RandomUniformLike", attributes, [LIKE], [T.FLOAT])
    np.testing.assert_array_equal(made, like, strict=True)
    assert distance(made, lambda x: (x + 1) / 4) < 2.2
    assert made.min() >= -1
    assert made.max() < 3


def test_the_upper_bound_is_not_reached_by_rounding(run_typed):
    attributes = {"low": 0.0, "high": 1.0, "seed": 1.0, "dtype": T.FLOAT16, "shape": [MANY]}
    (made,) = run_typed("RandomUniform", attributes, [], [T.FLOAT16])
    assert made.dtype == np.float16
    assert made.max() < 1


def test_coins_land_by_their_chances(run_typed):
    chances = np.repeat(np.array([0, 0.25, 1], np.float32), MANY)
    (made,) = run_typed("Bernoulli", {"seed": 3.0}, [chances], [T.FLOAT])
    none, some, every = made.reshape(3, MANY)
    assert set(made.tolist()) == {0, 1}
    assert (none.sum(), every.sum()) == (0, MANY)
    assert surprise(np.array([some.sum(), MANY - some.sum()]), [0.25, 0.75]) < 18.4


def test_classes_are_drawn_by_their_logarithms(run_typed):
    logits = np.array([[0, math.log(2), math.log(7)], [5, -math.inf, 5]], np.float32) + 100
    attributes = {"sample_size": MANY, "seed": 3.0, "dtype": T.INT64}
    (made,) = run_typed("Multinomial", attributes, [logits], [T.INT64])
    assert (made.shape, made.dtype) == ((2, MANY), np.int64)
    counts = np.stack([np.bincount(row, minlength=3) for row in made])
    assert surprise(counts[0], [0.1, 0.2, 0.7]) < 18.4
    assert counts[1, 1] == 0
    assert surprise(counts[1, [0, 2]], [0.5, 0.5]) < 18.4


@pytest.mark.parametrize(
    ("operation", "attributes", "inputs"),
    [
        ("RandomNormal", {"shape": [9]}, []),
        ("RandomUniform", {"shape": [9]}, []),
        ("RandomNormalLike", {}, [LIKE[:9]]),
        ("RandomUniformLike", {}, [LIKE[:9]]),
        ("Bernoulli", {}, [LIKE[:9] + 0.5]),
        ("Multinomial", {"sample_size": 9}, [np.zeros((1, 9), np.float32)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_seed_gives_the_same_numbers_each_time(operation, attributes, inputs, run_typed):
    kind = [T.INT32 if operation == "Multinomial" else T.FLOAT]
    drawn = [
        run_typed(operation, attributes | more, inputs, kind)[0]
        for more in ({"seed": 0.25}, {"seed": 0.25}, {"seed": 0.5}, {}, {})
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1], strict=True)
    others = {other.tobytes() for other in drawn[1:]}
    assert len(others) == 4 or operation == "Bernoulli"


@pytest.mark.parametrize(
    ("operation", "codes"),
    [
        ("RandomNormal", (T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16)),
        ("Bernoulli", (T.BOOL, T.INT8, T.UINT64, T.DOUBLE, T.BFLOAT16)),
    ],
)
def test_the_dtype_is_the_one_asked_for(operation, codes, run_typed):
    for code in codes:
        attributes = {"dtype": code} | ({"shape": [2, 0]} if operation == "RandomNormal" else {})
        inputs = [] if operation == "RandomNormal" else [LIKE[:0].reshape(2, 0)]
        (made,) = run_typed(operation, attributes, inputs, [code])
        assert made.shape == (2, 0)
        assert made.dtype == onnx.helper.tensor_dtype_to_np_dtype(code)


def test_whole_seeds_are_the_references():
    expected = np.random.RandomState(7).standard_normal(3)
    np.testing.assert_array_equal(generator(7.0).standard_normal(3), expected)
    assert generator(-1.0).uniform() != generator(1.0).uniform()
