"""A program that a device is too small for is refused: it breaks no claim, and proves none."""

from __future__ import annotations

import numpy as np
import onnx

from rlx import testing
from rlx.backends.protocol import TooLarge
from rlx.conformance.compare import Tolerance
from rlx.conformance.findings import Findings
from rlx.conformance.routed import attempt as attempt_routed
from rlx.conformance.trial import DECLINED, Outcome, Trial, attempt
from rlx.conformance.verdicts import FALSE, REFUSED, judge
from rlx.program import load
from rlx.session import Session

X = np.ones(2, np.float32)
TEXT = '<ir_version: 13, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Abs(x) }'
TRIAL = Trial("abs", load(onnx.parser.parse_model(TEXT)), [X], [X], Tolerance())


class Small:
    """A backend whose device has no room."""

    device, version = "cpu", "1"

    def compile(self, program: object, options: object) -> None:
        raise TooLarge("2 elements are too many")

    def close(self) -> None:
        pass


def test_a_backend_may_decline_when_it_compiles() -> None:
    assert attempt(Small(), TRIAL) == Outcome(DECLINED, "2 elements are too many")  # type: ignore[arg-type]


def test_what_is_declined_is_neither_a_success_nor_a_failure() -> None:
    findings = Findings()
    findings.record(TRIAL, Outcome(DECLINED, "2 elements are too many"))
    assert not findings.passed
    assert not findings.failed
    verdicts = judge(findings, lambda _: True, lambda _: True)
    assert (verdicts.total(REFUSED), verdicts.total(FALSE), verdicts.findings) == (1, 0, [])


def test_through_a_session_it_is_refused_with_the_code_of_the_error() -> None:
    testing.watch("small").compile_error = TooLarge("2 elements are too many")
    one = testing.registration("small", coverage=testing.covering(TRIAL.program))
    with Session(backend="small", registry=testing.registry(one)) as session:
        assert attempt_routed(session, TRIAL) == Outcome("refused", "unsupported-feature")
