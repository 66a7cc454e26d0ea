"""`rlx conform`: what it prints, what it writes, and what it compares with."""

import json

import pytest

from rlx import resources
from rlx.conformance import conform, evidence, literals
from rlx.registries import Registry

ENGINE = """\
import os
from rlx.backends.reference import Reference

class Doomed(Reference):
    def compile(self, program, options):
        if any(node.operation == "Neg" for node in program.nodes()):
            os._exit(7)
        return super().compile(program, options)

def open_doomed(spec, options):
    return Doomed()
"""
CONFIG = """
backends:
  - {id: doomed, device: cpu, rank: 1, dispatches: true, factory: "doomed_cli:open_doomed",
     coverage: {rows: [{operations: [Abs, Neg], types: {T: [float32]}},
                       {operations: [Sign], types: {T: [int64]}}]}}
"""


@pytest.fixture
def doomed(manifest, tmp_path, monkeypatch):
    (tmp_path / "doomed_cli.py").write_text(ENGINE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return manifest(CONFIG, "doomed.yaml")


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """Evidence is kept in a folder of the test."""
    monkeypatch.setattr(evidence, "path_of", lambda name: tmp_path / f"{name}.json")
    return tmp_path


def test_claims_that_hold_are_exit_code_0(rlx, small):
    done = rlx("conform", "--backend", "numpy")
    assert (done.code, done.err) == (0, "")
    head, line = done.out.splitlines()
    assert head.split("  ")[0] == "backend"
    assert line.split() == ["numpy", "3", "of", "3", "0", "0", "3", "3", "0", "0", "0", "0"]


def test_a_crash_and_a_success_that_nobody_claims_are_findings(rlx, small, doomed):
    done = rlx("conform", "--backend", "doomed", "--config", doomed, "--json")
    assert done.code == 1
    (one,) = done.json["backends"]
    assert done.json["ok"] is False
    assert one["suite"]["crash"] == {"neg": "exit code 7"}
    assert [(found["verdict"], found["case"]) for found in one["findings"]] == [
        ("crash", "neg"),
        ("unclaimed success", "sign"),
    ]


def test_findings_are_listed_below_the_table(rlx, small, doomed):
    out = rlx("conform", "--backend", "doomed", "--config", doomed).out
    assert out.splitlines()[2:] == [
        "doomed: crash: Neg: neg: exit code 7",
        "doomed: unclaimed success: Sign: sign",
        "doomed: crash: neg: exit code 7",
    ]


def test_without_a_backend_all_that_can_work_here_are_tried(rlx, small, monkeypatch):
    asked = []
    monkeypatch.setattr(conform, "conform", lambda names, *_, **__: asked.extend(names) or [])
    assert rlx("conform").code == 0
    assert "numpy" in asked
    assert "reference" not in asked


def test_an_operation_is_held_with_the_cases_made_of_it_alone(rlx, small):
    done = rlx("conform", "--backend", "numpy", "--op", "Abs", "--json")
    assert done.json["backends"][0]["trials"] == 1


def test_writing_into_the_user_s_configuration_changes_what_is_claimed(
    rlx, small, monkeypatch, tmp_path
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    done = rlx("conform", "--backend", "numpy", "--write", "--user")
    own = tmp_path / "home" / "rlx" / "backends.yaml"
    assert (done.code, done.err) == (0, f"wrote {own.with_name('coverage') / 'numpy.yaml'}\n")
    assert own.read_text(encoding="utf-8") == (
        "apiVersion: rlx/v1\nkind: Backends\n\n"
        "overrides:\n  - {id: numpy, coverage: coverage/numpy.yaml}\n"
    )
    coverage = Registry.load().get("numpy").coverage
    assert [row.operations for row in coverage.rows] == [("Abs", "Neg", "Sign")]
    assert coverage.evidence == "measured"
    assert (
        f"coverage      coverage/numpy.yaml ({own}:5:27; was"
        in rlx("backends", "--why", "numpy").out
    )
    again = own.read_text(encoding="utf-8")
    assert rlx("conform", "--backend", "numpy", "--write", "--user").code == 0
    assert own.read_text(encoding="utf-8") == again


def test_a_user_s_own_lines_stay_when_coverage_is_written(rlx, small, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    own = tmp_path / "home" / "rlx" / "backends.yaml"
    own.parent.mkdir(parents=True)
    head = "apiVersion: rlx/v1\nkind: Backends\noverrides:\n"
    own.write_text(f"{head}  - {{id: numpy, rank: 3}}  # first\n", encoding="utf-8")
    rlx("conform", "--backend", "numpy", "--write", "--user")
    assert own.read_text(encoding="utf-8") == (
        f"{head}  - {{id: numpy, coverage: coverage/numpy.yaml, rank: 3}}  # first\n"
    )


def test_a_run_is_compared_with_the_committed_evidence(rlx, small, kept, doomed):
    missing = rlx("conform", "--backend", "numpy", "--check")
    assert missing.code == 1
    assert missing.out.splitlines()[-1] == (
        "numpy: no evidence is committed. Fix: rlx conform --backend numpy --write"
    )
    (result,) = conform.conform(["numpy"], lambda *_: None)
    evidence.write(result)
    assert rlx("conform", "--backend", "numpy", "--check").code == 0
    path = kept / "numpy.json"
    changed = json.loads(path.read_text(encoding="utf-8"))
    changed["operations"]["Abs"] = {"digest": "0", "refused": 1}
    changed["suite"]["refused"] = {"coverage": ["neg"]}
    path.write_text(json.dumps(changed), encoding="utf-8")
    done = rlx("conform", "--backend", "numpy", "--check")
    assert done.code == 1
    digest = evidence.of(result).operations["Abs"]["digest"]
    assert done.out.splitlines()[2:] == [
        f"numpy: Abs: 1 pass ({digest}), and the evidence says 1 refused (0)",
        "numpy: neg: passed, and the evidence says refused (coverage)",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resume"], "--resume goes on with --write. Fix: add --write."),
        (
            ["--write", "--op", "Abs"],
            "--write measures every operation. Fix: leave --op and --sample out.",
        ),
        (
            ["--write", "--check"],
            "--write does not go with --check or --report. Fix: run one first.",
        ),
        (["--user"], "--user says where --write writes. Fix: add --write."),
        (["--report", "--sample", "3"], "--report runs nothing. Fix: leave --op and --sample out."),
    ],
)
def test_options_that_contradict_each_other_are_refused(rlx, arguments, message):
    done = rlx("conform", *arguments)
    assert done.code == 2
    assert message in done.err


def test_an_unknown_backend_is_refused_with_those_that_there_are(rlx):
    done = rlx("conform", "--backend", "nump")
    assert done.code != 0
    known = ", ".join(one.id for one in Registry.load().registrations)
    assert f"no backend is registered as 'nump'. Fix: choose one of: {known}." in done.err


def test_the_same_seed_draws_the_same_operations():
    first = conform.drawn(["numpy"], (), 5, seed=1)
    assert first == conform.drawn(["numpy"], (), 5, seed=1)
    assert first != conform.drawn(["numpy"], (), 5, seed=2)
    assert len(first) == 5
    assert conform.drawn(["numpy"], ("Abs", "Gradient"), 5, seed=1) == ("Abs",)


def test_evidence_and_literals_are_part_of_the_package():
    assert literals.__doc__
    assert evidence.path_of("numpy").parent == resources.configs() / "evidence"


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("Sigmiod", "did you mean 'Sigmoid'?"),
        ("acme::Qqqqqq", "name it as coverage does, such as Add."),
    ],
)
def test_an_operation_that_nobody_declares_is_refused(rlx, name, fix):
    """Nothing would be run, and so nothing would fail."""
    found = rlx("conform", "--backend", "numpy", "--op", name)
    assert found.code == 2
    assert f"rlx: no operation is called {name!r}. Fix: {fix}" in found.err
