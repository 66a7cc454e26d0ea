"""One literal, hand-checkable result per operation: functions of one operand, activations."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.backends.array.kernels import activation, elementwise
from rlx.conformance.literals.elementwise import CASES


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_result_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    arrays = [None if x is None else np.asarray(x) for x in inputs]
    constant = range(1, len(arrays))
    for found in (
        *run_node(operation, attributes, arrays, [expected]),
        *run_node(operation, attributes, arrays, [expected], constants=constant, symbolic=True),
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(
            found.astype(np.float64), expected.astype(np.float64), rtol=2e-6, atol=1e-6
        )


def test_every_operation_has_a_literal():
    assert {case[0] for case in CASES} == elementwise.KERNELS.keys() | activation.KERNELS.keys()
