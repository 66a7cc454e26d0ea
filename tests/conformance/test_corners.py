"""Corners are cases that two implementations agree about, and they take claims away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rlx.backends.array.numpy import open_cpu
from rlx.backends.protocol import CompileOptions, Executable
from rlx.backends.reference import Reference
from rlx.conformance import corpus
from rlx.conformance.compare import Tolerance
from rlx.conformance.corners import corners, plain_corners
from rlx.conformance.trial import Trial, attempt, evaluate
from rlx.device import DeviceSpec
from rlx.program import Program, ValueType, load

OPERATIONS = ["AveragePool", "LpPool", "MaxPool", "Resize", "Unique"]
OPERATIONS += ["AffineGrid", "MeanVarianceNormalization"]


class Forgetful(Reference):
    """The oracle, but its values are wrong where a NaN comes in."""

    def compile(self, program: Program, options: CompileOptions) -> Executable:
        made = super().compile(program, options)
        right = made.run

        def run(inputs: Sequence[Any]) -> Sequence[Any]:
            outputs = right(inputs)
            return [-one for one in outputs] if np.isnan(inputs[0]).any() else outputs

        made.run = run  # type: ignore[method-assign]
        return made


@pytest.mark.parametrize("operation", OPERATIONS)
def test_numpy_and_the_reference_agree_about_every_corner(operation: str) -> None:
    numpy, reference, judged = open_cpu(DeviceSpec("cpu"), {}), Reference(), 0
    for variant in plain_corners(operation):
        program = load(variant.model)
        expected = evaluate(reference, program, variant.inputs)
        pairs = zip(program.outputs, expected, strict=True)
        if any(corpus.has_other_shape(value.type, output) for value, output in pairs):
            continue
        judged += 1
        trial = Trial(variant.label, program, variant.inputs, expected, Tolerance(scaled=True))
        assert (variant.label, attempt(numpy, trial).detail) == (variant.label, "")
    assert judged > (5 if operation in OPERATIONS[:5] else 0)


def test_corners_come_at_other_dtypes_too() -> None:
    labels = [variant.label for variant in corners("MaxPool")]
    assert sum(label.endswith("T=int8") for label in labels) == len(list(plain_corners("MaxPool")))
    assert not list(corners("Abs"))


def test_what_fails_at_a_corner_fails() -> None:
    trials = list(corpus.cornered("Unique", Reference()))
    outcomes = {trial.name: attempt(Forgetful(), trial).status for trial in trials}
    assert outcomes["Unique[nan,sorted=1,float32]"] == "wrong"
    assert all(attempt(Reference(), trial).passed for trial in trials)


def test_an_oracle_with_another_shape_than_declared_judges_nobody() -> None:
    found = np.zeros((1, 2), np.float32)
    assert corpus.has_other_shape(ValueType("float32", (1, 3)), found)
    assert corpus.has_other_shape(ValueType("float32", (1, 2, 1)), found)
    assert not corpus.has_other_shape(ValueType("float32", (1, "n")), found)
    assert not corpus.has_other_shape(ValueType("float32", None), found)
