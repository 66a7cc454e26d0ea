"""One literal, hand-checkable result per operation: shapes, slices, pads, constants."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.backends.array.kernels import constants, cutting, shape
from rlx.conformance.literals.shape import CASES, LINE, f, n
from rlx.errors import ExecutionError


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_result_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    arrays = [None if x is None else np.asarray(x) for x in inputs]
    constant = range(1, len(arrays))
    for results in (
        run_node(operation, attributes, arrays, expected),
        run_node(operation, attributes, arrays, expected, constants=constant, symbolic=True),
    ):
        for found, wanted in zip(results, expected, strict=True):
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
            wide = complex if wanted.dtype.kind == "c" else float
            np.testing.assert_allclose(found.astype(wide), wanted.astype(wide), rtol=1e-6)


def test_training_dropout_scales_what_it_keeps(run_node):
    inputs = [np.ones(64, np.float32), np.array(0.75, np.float32), np.array(True)]
    y, mask = run_node("Dropout", {"seed": 3}, inputs, [inputs[0], inputs[2].reshape(1)])
    np.testing.assert_array_equal(y, np.where(mask, np.float32(4), np.float32(0)))
    assert 0 < mask.sum() < 64


def test_a_split_that_does_not_fit_says_so(run_node):
    with pytest.raises(
        ExecutionError, match=r"^node 'Split_0' Split failed: sizes \[1, 1\] do not sum to 3"
    ):
        run_node("Split", {}, [f([1, 2, 3]), n(1, 1)], [LINE, LINE], symbolic=True)


def test_every_operation_has_a_literal():
    families = constants.KERNELS.keys() | cutting.KERNELS.keys() | shape.KERNELS.keys()
    assert {case[0] for case in CASES} == families
