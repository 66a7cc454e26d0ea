"""One literal, hand-checkable result per operation: reductions, products, indexing, casts."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.backends.array.kernels import cast, indexing, matmul, reduction, scatter
from rlx.conformance.literals.indexing import CASES, LINE, n
from rlx.errors import ExecutionError

FAMILIES = (cast, indexing, matmul, reduction, scatter)


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_result_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    constant = range(1, len(inputs))
    for results in (
        run_node(operation, attributes, inputs, expected),
        run_node(operation, attributes, inputs, expected, constants=constant, symbolic=True),
    ):
        for found, wanted in zip(results, expected, strict=True):
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-6)


def test_a_top_k_larger_than_its_axis_says_so(run_node):
    with pytest.raises(
        ExecutionError, match=r"^node 'TopK_0' TopK failed: k is 5, axis 0 has 4 values"
    ):
        run_node("TopK", {}, [LINE, n(5)], [LINE, n(1)], symbolic=True)


def test_an_index_outside_the_array_is_an_error(run_node):
    with pytest.raises(
        ExecutionError, match=r"^node 'Gather_0' Gather failed: index 4 is out of bounds"
    ):
        run_node("Gather", {}, [LINE, n(4)], [LINE])


def test_every_operation_has_a_literal():
    named = set().union(*(family.KERNELS for family in FAMILIES))
    assert {case[0] for case in CASES} == named
