"""The judge follows ONNX's suite, and is exact where numbers are whole."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from rlx.conformance.compare import Tolerance, difference

ONE = np.ones(2, np.float32)
CASES: list[tuple[Any, Any, str | None]] = [
    ([ONE], [ONE * np.float32(1.0005)], None),
    ([ONE], [ONE * 2], "output 0: off by 1 (float32)"),
    ([ONE], [], "0 outputs instead of 1"),
    ([ONE], [ONE[:1]], "output 0: shape (1,) instead of (2,)"),
    ([ONE], [ONE.astype(np.float64)], "output 0: float64 instead of float32"),
    ([ONE], [[ONE]], "output 0: list instead of an array"),
    ([[ONE]], [ONE], "output 0: ndarray instead of a sequence"),
    ([[ONE, ONE]], [[ONE, ONE]], None),
    ([None], [None], None),
    ([None], [ONE], "output 0: array([1., 1.], dtype=float32) instead of None"),
    ([np.array([2**40])], [np.array([2**40 + 1])], "output 0: other int64 values"),
    ([np.array(["a"], object)], [np.array(["a"])], None),
    ([np.array(["a"], object)], [np.array(["b"], object)], "output 0: other strings"),
    ([ONE * np.nan], [ONE * np.nan], None),
    ([ONE * np.inf], [-ONE * np.inf], "output 0: off by inf (float32)"),
]


@pytest.mark.parametrize(("expected", "got", "found"), CASES)
def test_the_first_difference_is_named(expected: Any, got: Any, found: str | None) -> None:
    assert difference(expected, got, Tolerance()) == found


def test_narrow_floats_may_differ_by_two_units_in_the_last_place() -> None:
    want = np.array([1.0], ml_dtypes.bfloat16)
    near = np.array([1.0 + 2**-7], ml_dtypes.bfloat16)
    assert difference([want], [near], Tolerance()) is None


def test_a_scaled_tolerance_is_relative_to_the_largest_value() -> None:
    want, got = np.array([100.0, 0.0], np.float16), np.array([100.0, 0.1], np.float16)
    assert difference([want], [got], Tolerance()) == "output 0: off by 0.1 (float16)"
    assert difference([want], [got], Tolerance(scaled=True)) is None


def test_maps_are_compared_by_key() -> None:
    found = {"a": 1.0, "b": 2.0}
    assert difference([[found]], [[{"b": 2.0, "a": 1.00001}]], Tolerance()) is None
    said = difference([[found]], [[{"a": 1.0}]], Tolerance())
    assert said == "output 0: output 0: {'a': 1.0} instead of a map of ['a', 'b']"
    said = difference([found], [{"a": 1.0, "b": 3.0}], Tolerance())
    assert said is not None
    assert said.startswith("output 0: output 1: off by 1")
