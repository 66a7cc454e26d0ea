"""The suite is read whole; operations may declare tolerances, within bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from rlx import resources
from rlx.conformance.cases import (
    TOTAL,
    Case,
    allowed,
    load_cases,
    operations_of,
    plain,
    runner_arguments,
)
from rlx.conformance.compare import Tolerance
from rlx.conformance.tolerances import declared, tolerance
from rlx.operations import generate


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return load_cases()


def test_every_case_of_the_suite_is_there_once(cases: list[Case]) -> None:
    assert len(cases) == len({case.name for case in cases}) == TOTAL


def test_every_kind_can_be_read(cases: list[Case]) -> None:
    first = {case.kind: case for case in cases}
    for case in first.values():
        model, inputs, outputs = case.read()
        named = {tensor.name for tensor in model.graph.initializer}
        assert len(inputs) == len([v for v in model.graph.input if v.name not in named])
        assert len(outputs) == len(model.graph.output)


def test_only_operations_that_declare_a_tolerance_are_judged_by_another(cases: list[Case]) -> None:
    changed = runner_arguments(cases)
    found = [case for case in cases if case.name in changed]
    assert found
    assert all(operations_of(case.read()[0]) & set(declared()) for case in found)


def test_declared_tolerances_are_of_known_operations_and_no_looser_than_allowed() -> None:
    names = {operation.name for operation in generate.operations()}
    assert set(declared()) <= names
    assert all(0 < one.atol <= 1e-5 and one.rtol <= 1e-3 for one in declared().values())
    assert (resources.configs() / "tolerances.yaml").is_file()


def test_a_case_keeps_a_looser_tolerance_of_its_own() -> None:
    own = Tolerance(2e-3, 1e-3)
    assert tolerance({"DFT"}, own) == own
    assert tolerance({"Add"}, Tolerance()) == Tolerance()
    assert tolerance({"DFT", "Add"}, Tolerance()).atol == declared()["DFT"].atol


def test_operations_are_named_in_subgraphs_too() -> None:
    text = (
        "g (bool c, float[1] x) => (float[1] y) { y = If (c) "
        "<then_branch = t () => (float[1] a) { a = Neg (x) }, "
        "else_branch = e () => (float[1] b) { b = Abs (x) }> }"
    )
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> {text}')
    assert operations_of(model) == {"If", "Neg", "Abs"}
    case = Case("c", "node", lambda: (model, [], []))
    assert allowed(case, model) == Tolerance()


def test_numpy_scalars_and_protos_become_arrays(tmp_path: Path) -> None:
    tensor = onnx.numpy_helper.from_array(np.ones(2, np.float32))
    assert plain(tensor).tolist() == [1, 1]
    assert isinstance(plain(np.float32(1)), np.ndarray)
    assert [item.tolist() for item in plain((np.float32(1), tensor))] == [1, [1, 1]]
    assert plain(None) is None
