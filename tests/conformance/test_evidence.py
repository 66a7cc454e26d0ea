"""Evidence and its page: what a run said is written so that a diff can be read, and compared."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlx import resources
from rlx.conformance import evidence, picture, report
from rlx.conformance.conform import Result
from rlx.conformance.evidence import Evidence
from rlx.conformance.findings import Findings, Record
from rlx.conformance.suite import Tally
from rlx.conformance.trial import Outcome
from rlx.conformance.verdicts import judge
from rlx.program import Signature

ADD, NEG, EXP, LOG = (Signature(name, (("T", "float32"),)) for name in ("Add", "Neg", "Exp", "Log"))
MADE = Evidence(
    "numpy",
    "numpy 2.4",
    "linux x86_64",
    "1.23.2",
    {"Add": {"digest": "a1", "pass": 3, "refused": 1}, "Exp": {"digest": "b2", "refused": 2}},
    {"passed": 1, "unjudged": [], "refused": {"coverage": ["test_b", "test_c"]}},
)


def findings() -> Findings:
    found = Findings()
    for case, signature, status in (
        ("add", ADD, "passed"),
        ("neg", NEG, "wrong"),
        ("exp", EXP, "passed"),
        ("log", LOG, "crash"),
        ("log again", LOG, "passed"),
    ):
        found.records.append(Record(case, (signature,), Outcome(status, status)))
    found.records.append(Record("both", (ADD, NEG), Outcome("passed")))
    return found


def test_each_trial_has_a_verdict_by_what_is_claimed_and_what_could_be() -> None:
    made = judge(findings(), {ADD, NEG}.__contains__, {ADD, EXP}.__contains__)
    assert made.counts == {
        "Add": Counter({"pass": 1}),
        "Neg": Counter({"false claim": 1}),
        "Exp": Counter({"unclaimed success": 1}),
        "Log": Counter({"refused": 2}),
        "(programs)": Counter({"pass": 1}),
    }
    assert [str(one) for one in made.findings] == [
        "false claim: Neg: neg: wrong",
        "unclaimed success: Exp: exp: passed",
    ]
    assert made.kept_out == Counter({"crash": 1})


def test_a_crash_of_what_is_claimed_is_a_finding() -> None:
    made = judge(findings(), {LOG}.__contains__, set[Signature]().__contains__)
    assert made.counts["Log"] == Counter({"crash": 1, "pass": 1})
    assert [one.verdict for one in made.findings] == ["crash"]


def test_a_claim_that_fails_beside_others_is_false() -> None:
    found = findings()
    found.apart[ADD] = "it needs opset 28"
    made = judge(found, {ADD}.__contains__, set[Signature]().__contains__)
    assert [str(one) for one in made.findings] == [
        "false claim: Add: beside what else is claimed: it needs opset 28"
    ]


def test_the_digest_of_an_operation_is_of_all_its_trials_in_any_order() -> None:
    found = findings()
    nothing = set[Signature]().__contains__
    before = judge(found, nothing, nothing).digests
    found.records.reverse()
    assert judge(found, nothing, nothing).digests == before
    found.records[0] = replace(found.records[0], outcome=Outcome("wrong"))
    assert judge(found, nothing, nothing).digests != before


def test_what_is_written_is_what_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(evidence, "path_of", lambda name: tmp_path / f"{name}.json")
    assert evidence.read("numpy") is None
    (tmp_path / "numpy.json").write_text(evidence.text(MADE), encoding="utf-8")
    assert evidence.read("numpy") == MADE
    data = json.loads(evidence.text(MADE))
    assert data["trials"]["refused"] == 3
    assert data["digest"] == MADE.digest


def test_an_operation_is_a_line_of_the_file() -> None:
    assert '  "Add": {"digest": "a1", "pass": 3, "refused": 1},\n' in evidence.text(MADE)
    assert '    "test_b",\n' in evidence.text(MADE)


def test_a_whole_run_differs_by_what_it_lacks() -> None:
    now = replace(MADE, operations={"Add": MADE.operations["Add"]}, ran=frozenset({"test_b"}))
    assert list(evidence.differences(MADE, now, whole=True)) == [
        "Exp is in the evidence, and was not tried"
    ]
    assert list(evidence.differences(MADE, now, whole=False)) == []


def test_a_case_that_passes_now_and_one_that_does_not_any_more_differ() -> None:
    suite = {"passed": 1, "unjudged": [], "refused": {"coverage": ["test_a"]}, "wrong": ["test_c"]}
    now = replace(MADE, suite=suite, ran=frozenset({"test_a", "test_b", "test_c"}))
    assert list(evidence.differences(MADE, now, whole=False)) == [
        "test_a: refused (coverage), and the evidence says passed",
        "test_b: passed, and the evidence says refused (coverage)",
        "test_c: wrong, and the evidence says refused (coverage)",
    ]


def test_a_partial_run_takes_the_whole_one_s_word_for_what_is_not_claimed() -> None:
    nothing = set[Signature]().__contains__
    verdicts = judge(findings(), nothing, {EXP, ADD}.__contains__)
    made: Any = Result(None, "1", findings(), None, verdicts)  # type: ignore[arg-type]
    said = replace(MADE, operations={"Exp": {"digest": verdicts.digests["Exp"]}})
    found = evidence.settled(made, said).verdicts
    assert [str(one) for one in verdicts.findings] == [
        "unclaimed success: Add: add: passed",
        "unclaimed success: Exp: exp: passed",
    ]
    assert [str(one) for one in found.findings] == ["unclaimed success: Add: add: passed"]
    assert found.counts["Exp"] == Counter({"refused": 1})


def test_a_tally_counts_every_case_once() -> None:
    tally = Tally()
    tally.add("a", Outcome("passed"))
    tally.add("b", Outcome("refused", "coverage"))
    tally.add("c", Outcome("wrong", "off by 1"))
    tally.add("test_loop16_seq_none", Outcome("passed"))
    assert (tally.total, list(tally.cases)) == (4, ["a", "b", "test_loop16_seq_none", "c"])
    assert str(tally) == ("4 cases: 1 passed, 1 refused (coverage 1), 1 wrong, 0 crash, 0 hang")


def test_the_page_says_what_is_refused() -> None:
    text = report.page([MADE])
    assert "| `numpy` | 2.4 | 1 | 2 | 0 | 0 | 6 | 0 | 0 |" in text
    assert "Cases by reason: coverage 2." in text
    assert "Operations not claimed (1): Exp." in text
    assert "Claimed in part (1): Add." in text


def test_the_committed_page_is_what_the_committed_evidence_says() -> None:
    assert report.stale() == []


@pytest.mark.parametrize(
    ("counts", "colour"),
    [
        (None, picture.NOTHING),
        ({"refused": 4}, picture.NOTHING),
        ({"pass": 4}, picture.MOST),
        ({"pass": 4, "false claim": 1}, picture.FAULT),
    ],
)
def test_colours(counts: dict[str, int] | None, colour: tuple[float, float, float]) -> None:
    assert picture.colour(counts) == pytest.approx(colour)


@pytest.mark.needs("matplotlib")
def test_the_picture_is_drawn(tmp_path: Path) -> None:
    picture.draw([MADE, replace(MADE, backend="mlx")], tmp_path / "it.png")
    assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")


def test_every_packaged_backend_that_was_measured_has_evidence() -> None:
    kept = {path.stem for path in (resources.configs() / evidence.FOLDER).glob("*.json")}
    assert {"numpy", "onnxruntime-cpu"} <= kept
    for name in kept:
        found = evidence.read(name)
        assert found is not None
        assert [found.total(verdict) for verdict in ("false claim", "crash", "hang")] == [0, 0, 0]
        assert not {"wrong", "crash", "hang"} & set(found.suite)
