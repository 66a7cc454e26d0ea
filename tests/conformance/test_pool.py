"""Trials run in child processes: one that ends its child has a verdict, and the others theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from rlx.conformance import pool
from rlx.conformance.compare import Tolerance
from rlx.conformance.trial import Trial
from rlx.errors import OpenFailed
from rlx.program import load

X = np.array([1.0, 2.0], np.float32)
ENGINE = """\
import os, signal, sys, time
from pathlib import Path
from rlx.backends.reference import Reference

class Doomed(Reference):
    def compile(self, program, options):
        operations = {node.operation for node in program.nodes()}
        if "Neg" in operations:
            print("fatal: no negative numbers", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        if "Exp" in operations:
            time.sleep(60)
        once = Path(__file__).with_name("once")
        if "Log" in operations and not once.exists():
            once.touch()
            os._exit(3)
        return super().compile(program, options)

def open_doomed(spec, options):
    return Doomed()

def refuse(spec, options):
    raise RuntimeError("no such device")
"""
CONFIG = """\
apiVersion: rlx/v1
kind: Backends
backends:
  - {id: doomed, device: cpu, rank: 1, dispatches: true, factory: "doomed_engine:open_doomed",
     coverage: {rows: [{operations: [Abs, Neg, Exp, Log], types: {T: [float32]}}]}}
  - {id: closed, device: cpu, rank: 2, dispatches: true, factory: "doomed_engine:refuse"}
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "doomed_engine.py").write_text(ENGINE, encoding="utf-8")
    (tmp_path / "backends.yaml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return str(tmp_path / "backends.yaml")


def trial(operation: str, expected: object) -> Trial:
    text = f"g (float[2] x) => (float[2] y) {{ y = {operation}(x) }}"
    model = onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 21]> {text}')
    return Trial(operation, load(model), [X], [expected], Tolerance())


ABS, NEG = trial("Abs", X), trial("Neg", -X)
EXP, LOG = trial("Exp", np.exp(X)), trial("Log", np.log(X))


def test_a_trial_that_kills_its_child_is_a_crash_and_the_others_go_on(config: str) -> None:
    with pool.Pool("doomed", [config]) as doomed:
        outcomes = doomed.begin([ABS, NEG, ABS, ABS])()
    assert [one.status for one in outcomes] == ["passed", "crash", "passed", "passed"]
    assert outcomes[1].detail == "SIGKILL: fatal: no negative numbers"


def test_a_trial_without_an_answer_in_time_is_a_hang(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "START", 6.0)
    with pool.Pool("doomed", [config], limit=1.0) as doomed:
        outcomes = doomed.begin([ABS, EXP, ABS])()
    assert [one.status for one in outcomes] == ["passed", "hang", "passed"]
    assert outcomes[1].detail in ("no answer after 1 s", "no answer after 6 s")


def test_what_ends_a_child_once_and_not_again_is_noted(config: str) -> None:
    with pool.Pool("doomed", [config]) as doomed:
        outcomes = doomed.begin([LOG, ABS])()
        assert doomed.flukes == ["Log: exit code 3"]
    assert [one.status for one in outcomes] == ["passed", "passed"]


def test_several_children_share_the_trials_and_keep_their_order(config: str) -> None:
    wrong = trial("Abs", -X)
    with pool.Pool("doomed", [config], jobs=2) as doomed:
        outcomes = doomed.begin([ABS, wrong] * 20)()
    assert [one.status for one in outcomes] == ["passed", "wrong"] * 20


def test_the_same_trials_run_through_a_session(config: str) -> None:
    sign = trial("Sign", np.sign(X))
    with pool.Pool("doomed", [config]) as doomed:
        outcomes = doomed.begin_routed([ABS, sign, NEG])()
    assert [(one.status, one.detail) for one in outcomes[:2]] == [
        ("passed", ""),
        ("refused", "coverage"),
    ]
    assert outcomes[2].status == "crash"


def test_a_backend_that_can_t_be_opened_says_why(config: str) -> None:
    with pytest.raises(OpenFailed) as raised, pool.Pool("closed", [config]):
        pass
    assert str(raised.value) == (
        "opening closed in a child process failed: RuntimeError: no such device. "
        "Fix: see the cause above; `rlx devices --refresh` probes again."
    )
