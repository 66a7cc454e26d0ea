"""Values that a person can check: the oracle's faults are known, and no operation lacks one."""

from __future__ import annotations

import pytest

from rlx.backends.array.numpy import open_cpu
from rlx.backends.reference import Reference
from rlx.conformance.literals import trials
from rlx.conformance.trial import Trial, attempt
from rlx.device import DeviceSpec
from rlx.registries import Registry

UNWRITTEN = {
    "CausalConvWithState",
    "LinearAttention",
    "ai.onnx.preview.training::Gradient",
}
"""Operations without a literal: too many numbers for a person to follow, or a graph around it."""
ALL = [one for found in trials.trials().values() for one in found]


@pytest.mark.parametrize("trial", ALL, ids=lambda trial: trial.name)
def test_numpy_gives_the_literal(trial: Trial) -> None:
    outcome = attempt(open_cpu(DeviceSpec("cpu"), {}), trial)
    assert (outcome.status, outcome.detail) == ("passed", "")


def test_the_oracle_gives_them_too_except_where_its_fault_is_known() -> None:
    oracle = Reference()
    wrong = {one.name for one in ALL if not attempt(oracle, one).passed}
    families = {name: name.partition("[")[0] for name in wrong - set(trials.ORACLE_FAULTS)}
    assert wrong >= set(trials.ORACLE_FAULTS)
    assert set(families.values()) == set(trials.FAMILY_FAULTS)


def test_every_operation_that_a_backend_claims_has_a_literal() -> None:
    claimed = {
        name
        for one in Registry.load(only=True).registrations
        if not one.reference_oracle
        for row in one.coverage.rows
        for name in row.operations
    }
    assert claimed - set(trials.trials()) == UNWRITTEN
