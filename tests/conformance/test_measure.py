"""Measuring runs cases and their variants; claims hold together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends.protocol import CompileOptions, Executable
from rlx.backends.reference import Reference
from rlx.conformance import corpus, measure, together
from rlx.conformance.cases import UNJUDGED, Case
from rlx.conformance.compare import Tolerance
from rlx.conformance.findings import Findings
from rlx.conformance.trial import Here, Outcome, Trial, attempt, guarded
from rlx.program import Program, ValueType, load

X = np.array([1.0, -2.0], np.float32)


class OldEngine(Reference):
    """The oracle, but it reads no opset above its own, and knows Selu only below 22."""

    def __init__(self, newest: int):
        self.newest = newest

    def compile(self, program: Program, options: CompileOptions) -> Executable:
        (opset,) = (entry.version for entry in program.to_onnx().opset_import)
        if opset > self.newest:
            raise NotImplementedError(f"opset {opset}")
        if opset >= 22 and any(node.operation == "Selu" for node in program.nodes()):
            raise NotImplementedError("Selu")
        return super().compile(program, options)


def model(body: str, opset: int, kind: str = "float") -> onnx.ModelProto:
    text = f"g ({kind}[2] x) => ({kind}[2] y) {{ {body} }}"
    return onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": {opset}]> {text}')


def case(name: str, body: str, expected: Any, opset: int = 21) -> Case:
    return Case(name, "node", lambda: (model(body, opset), [X], [expected]))


def quiet(what: str, done: int, total: int) -> None:
    """No progress."""


def measured(*cases: Case, backend: Reference | None = None, vary: bool = True) -> Any:
    found = measure.measure(
        {"it": Here(backend or Reference())}, Reference(), cases, quiet, vary=vary
    )
    return found.findings["it"]


def test_a_case_that_passes_is_tried_at_every_dtype() -> None:
    found = measured(case("abs", "y = Abs(x)", np.abs(X)))
    assert {dtype for one in found.passed for _, dtype in one.types} >= {"int8", "float64"}
    assert found.failed == {}


def test_the_oracle_is_judged_by_the_suite_alone() -> None:
    found = measured(case("abs", "y = Abs(x)", np.abs(X)), vary=False)
    assert len(found.passed) == 1


def test_a_wrong_answer_is_a_failure_with_what_was_wrong() -> None:
    found = measured(case("abs", "y = Abs(x)", X), vary=False)
    assert list(found.failed.values()) == ["abs: output 0: off by 4 (float32)"]


def test_what_onnxs_runner_cannot_judge_is_no_evidence() -> None:
    (name,) = UNJUDGED
    found = measured(case(name, "y = Abs(x)", np.abs(X)), vary=False)
    assert (found.passed, found.failed, found.records) == ({}, {}, [])


def test_an_oracle_with_another_dtype_than_declared_judges_nobody() -> None:
    assert corpus.has_other_dtype(ValueType("float16"), X)
    assert not corpus.has_other_dtype(ValueType("float32"), X)
    assert corpus.has_other_dtype(ValueType("seq(int64)", kind="sequence"), [X])
    assert not corpus.has_other_dtype(ValueType("string"), np.array(["a"], object))
    assert not corpus.has_other_dtype(ValueType("optional(float32)", kind="optional"), None)


def trial(name: str, body: str, expected: Any) -> Trial:
    return Trial(name, load(model(body, 24)), [X], [expected], Tolerance())


def test_two_trials_stand_side_by_side() -> None:
    both = together.beside(trial("a", "y = Neg(x)", -X), trial("b", "y = Abs(x)", np.abs(X)))
    assert [value.name for value in both.program.inputs] == ["x", "partner/x"]
    assert attempt(Reference(), both).passed


def test_what_fails_beside_a_newer_node_is_given_up() -> None:
    """Swish needs opset 24, where the engine lost Selu: one of two must go, and three stay."""
    cases = [
        case("neg", "y = Neg(x)", -X),
        case("abs", "y = Abs(x)", np.abs(X)),
        case("selu", "y = Selu(x)", np.where(X > 0, 1.0507009 * X, -1.520167).astype(np.float32)),
        case("swish", "y = Swish(x)", X / (1 + np.exp(-X)), opset=24),
    ]
    found = Findings()
    engine = OldEngine(24)
    for one in cases:
        source, inputs, outputs = one.read()
        made = Trial(one.name, load(source), inputs, outputs, Tolerance())
        found.record(made, attempt(engine, made))
    found.hold_together(Here(engine), lambda done, total: None)
    assert [one.operation for one in found.failed] == ["Selu"]
    assert list(found.failed.values()) == [
        "selu: it fails in a program that needs opset 24: NotImplementedError: Selu"
    ]


def test_inputs_are_guarded_against_being_written_to() -> None:
    (inner,) = guarded([X])
    with pytest.raises(ValueError, match="read-only"):
        inner[0] = 1
    assert guarded(None) is None


def test_where_every_case_goes_with_the_newest_no_variant_is_tried() -> None:
    tried: list[str] = []

    class Watching(Here):
        def begin(self, trials: Sequence[Trial]) -> Callable[[], list[Outcome]]:
            tried.extend(one.name for one in trials)
            return super().begin(trials)

    found = Findings()
    for name in ("abs", "abs[T=float]"):
        made = trial(name, "y = Abs(x)", np.abs(X))
        found.passed[replace(made.program.requirements.signatures[0], types=((name, "x"),))] = made
    found.hold_together(Watching(Reference()), lambda done, total: None)
    assert tried == ["abs beside abs"]
    assert found.failed == {}
