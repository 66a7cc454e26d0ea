"""Random valid programs: numpy and the oracle agree, or numpy refuses. A sample of the full run."""

from __future__ import annotations

import warnings

import numpy as np
import onnx
import pytest

import rlx
from tests.fuzz.programs import AGREED, FAULT, REFUSED, differs, draw, guilty, judge

BLOCK = 100


@pytest.mark.parametrize("first", range(0, 5 * BLOCK, BLOCK))
def test_numpy_agrees_with_the_oracle_or_refuses(first):
    """`python -m tests.fuzz.programs --count 20000` does many more."""
    verdicts = []
    with rlx.Session(backend="numpy") as session, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the oracle's
        for seed in range(first, first + BLOCK):
            drawn = draw(seed)
            if drawn is None:
                continue
            verdict, why = judge(session, drawn)
            assert verdict != FAULT, "\n".join([f"seed {seed}: {why}", *guilty(session, drawn)])
            verdicts.append(verdict)
    assert set(verdicts) <= {AGREED, REFUSED}
    assert verdicts.count(AGREED) > 0.8 * BLOCK


def test_the_same_seed_draws_the_same_program():
    one, other = draw(7), draw(7)
    assert one.model.SerializeToString() == other.model.SerializeToString()


def test_drawn_programs_are_valid():
    """By ONNX's own checker, sizes and dtypes too."""
    for seed in range(40):
        if (drawn := draw(seed)) is not None:
            onnx.checker.check_model(drawn.model, full_check=True)


def test_a_wrong_answer_is_found():
    """Values off by more than rounding, another dtype and another shape each count."""
    drawn = next(one for one in map(draw, range(99)) if one and one.outputs[0].array.size)
    value = drawn.outputs[0]
    assert differs(value, value.array) is None
    assert differs(value, value.array[None]).startswith("shape ")
    assert differs(value, value.array.astype("complex64")).startswith("complex64 instead of ")
    off = np.invert(value.array) if value.array.dtype == bool else value.array + 1000
    assert differs(value, off.astype(value.array.dtype)).startswith(("off by ", "other values: "))
