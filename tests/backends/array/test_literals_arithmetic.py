"""One literal, hand-checkable result per operation: arithmetic, logic and comparison."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.backends.array.kernels import arithmetic, logic
from rlx.conformance.literals.arithmetic import CASES


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_result_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    arrays = [np.asarray(x) for x in inputs]
    constant = range(1, len(arrays))
    for found in (
        *run_node(operation, attributes, arrays, [expected]),
        *run_node(operation, attributes, arrays, [expected], constants=constant, symbolic=True),
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_every_operation_has_a_literal():
    assert {case[0] for case in CASES} == arithmetic.KERNELS.keys() | logic.KERNELS.keys()
