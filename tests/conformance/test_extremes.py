"""Extreme shapes and values: they say what the oracle and numpy, which share no code, agree on."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.backends.array.numpy import open_cpu
from rlx.backends.reference import Reference
from rlx.conformance import corpus, degenerate, extremes
from rlx.conformance.trial import attempt
from rlx.device import DeviceSpec

OPERATIONS = sorted(
    {*extremes.UNARY, *extremes.BINARY, *extremes.REDUCTIONS, *extremes.ALONG, "Where"}
    | {*degenerate.EMPTY}
)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_numpy_and_the_oracle_agree_about_every_extreme(operation: str) -> None:
    numpy, oracle = open_cpu(DeviceSpec("cpu"), {}), Reference()
    outcomes = {one.name: attempt(numpy, one) for one in corpus.extreme(operation, oracle)}
    wrong = {name: one.detail for name, one in outcomes.items() if not one.passed}
    assert wrong == {}


def test_every_dtype_has_its_special_values() -> None:
    values = extremes.special("float32")
    assert np.isnan(values).any()
    assert {np.inf, -np.inf} <= set(values.tolist())
    assert np.signbit(values[values == 0]).any()
    assert (np.abs(values[values != 0]) < np.finfo(np.float32).smallest_normal).any()
    assert set(extremes.special("int8").tolist()) == {-128, 127, 0, 1, -1, -127}
    assert set(extremes.special("uint16").tolist()) == {0, 65535, 1}


def test_what_says_nothing_is_left_out_with_its_reason() -> None:
    labels = [variant.label for variant in extremes.extremes("PRelu")]
    assert labels
    assert not any("special" in label for label in labels)
    assert all(reason and not reason.endswith(".") for reason in extremes.UNJUDGED.values())
