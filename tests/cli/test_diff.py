"""`rlx diff`: which programs would run elsewhere under another configuration, and why."""

import json

import pytest

from rlx.cli import plan
from tests.cli.conftest import PROGRAM
from tests.three_backends import place

LAST = "overrides:\n  - {id: numpy, rank: 300}\n  - {id: onnxruntime-cpu, rank: 400}"
FIRST = "overrides:\n  - {id: numpy, rank: 300}\n  - {id: onnxruntime-cpu, rank: 10}"
MINE = """backends:
  - id: mine
    device: cuda
    rank: 10
    dispatches: true
    factory: "mine:open"
    coverage: {rows: [{operations: [%s], types: {T: [float32]}}]}"""


def diff(rlx, *more):
    return rlx("diff", "old.yaml", "new.yaml", "p.onnxtxt", "--no-probe", *more)


def test_a_rank_that_moves_a_program_is_shown_with_its_place(rlx, sides):
    sides(FIRST, LAST)
    done = diff(rlx)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "old.yaml → new.yaml: 1 of 1 program changes\n"
        "\n"
        "p.onnxtxt (1 node): onnxruntime-cpu (cpu:0) → numpy (cpu:0)\n"
        "  Relu float32: onnxruntime-cpu → numpy; "
        "onnxruntime-cpu: rank 10 → 400 at new.yaml:5:33\n"
    )


def test_a_backend_that_is_added_and_one_that_is_gone(rlx, sides):
    sides("", MINE % "Relu")
    assert "Relu float32: onnxruntime-cpu → mine; mine is registered, rank 10 at new.yaml:6:11" in (
        diff(rlx).out
    )
    sides(MINE % "Relu", "")
    assert (
        "Relu float32: mine → onnxruntime-cpu; mine is no longer registered (was at old.yaml:4:5)"
    ) in diff(rlx).out


def test_a_claim_that_is_lost_and_one_that_is_won(rlx, sides):
    sides(MINE % "Relu", MINE % "Add")
    assert diff(rlx).out.splitlines()[3:] == [
        "  Relu float32: mine → onnxruntime-cpu; node 'Relu_0' Relu: the operation is not claimed "
        "at new.yaml:9:15"
    ]
    sides(MINE % "Add", MINE % "Relu")
    assert diff(rlx).out.splitlines()[3:] == [
        "  Relu float32: onnxruntime-cpu → mine; claimed now, before: node 'Relu_0' Relu: the "
        "operation is not claimed at old.yaml:9:15"
    ]


def test_only_the_operation_whose_claim_is_lost_has_a_reason_of_its_own(rlx, sides):
    two = PROGRAM + "f (float[2] x) => (float[2] y) { z = Relu(x) y = Round(z) }"
    more = "]}}, {operations: [Round], types: {T: [float32]}}]}"
    both = (MINE % "Relu").replace("]}}]}", more)
    sides(both, MINE % "Relu", two)
    changed = {
        one["operation"]: one["reason"]
        for one in diff(rlx, "--json").json["programs"][0]["operations"]
    }
    assert changed == {"Relu": None, "Round": "node 'Round_1' Round: the operation is not claimed"}


def test_disabling_the_winner_shows_the_value_that_was_edited(rlx, sides):
    sides("", "overrides: [{id: onnxruntime-cpu, enabled: false}]")
    assert "onnxruntime-cpu: enabled true → false at new.yaml:3:44" in diff(rlx).out
    sides("overrides: [{id: onnxruntime-cpu, enabled: false}]", "")
    causes = diff(rlx, "--json").json["programs"][0]["causes"]
    assert [one["detail"] for one in causes] == ["onnxruntime-cpu: enabled false → true"]


def test_every_edit_against_the_old_winner_or_for_the_new_one_is_a_cause(rlx, sides):
    both = "overrides:\n  - {id: numpy, rank: 30}\n  - {id: onnxruntime-cpu, enabled: false}"
    sides(both, "")
    assert diff(rlx).out.splitlines()[2:] == [
        "p.onnxtxt (1 node): numpy (cpu:0) → onnxruntime-cpu (cpu:0)",
        "  Relu float32: numpy → onnxruntime-cpu; "
        f"numpy: rank 30 → 200 at {place('numpy', 'rank')}",
        f"  onnxruntime-cpu: enabled false → true at {place('onnxruntime-cpu', 'id')}",
    ]
    sides("", both)
    assert diff(rlx).out.splitlines()[2:] == [
        "p.onnxtxt (1 node): onnxruntime-cpu (cpu:0) → numpy (cpu:0)",
        "  Relu float32: onnxruntime-cpu → numpy; numpy: rank 200 → 30 at new.yaml:4:23",
        "  onnxruntime-cpu: enabled true → false at new.yaml:5:36",
    ]


def test_the_table_for_a_comment_names_every_cause(rlx, sides):
    sides("", "overrides: [{id: onnxruntime-cpu, enabled: false}, {id: numpy, rank: 30}]")
    row = next(line for line in diff(rlx, "--format", "markdown").out.splitlines() if "`p." in line)
    assert row == (
        "| `p.onnxtxt` | `onnxruntime-cpu (cpu:0)` | `numpy (cpu:0)` | "
        "`numpy: rank 200 → 30 at new.yaml:3:70; "
        "onnxruntime-cpu: enabled true → false at new.yaml:3:44` |"
    )


def test_a_rank_that_overtakes_nobody_is_no_cause(rlx, sides):
    sides("", "overrides: [{id: onnxruntime-cpu, enabled: false}, {id: numpy, rank: 150}]")
    assert diff(rlx).out.splitlines()[3:] == [
        "  Relu float32: onnxruntime-cpu → numpy; "
        "onnxruntime-cpu: enabled true → false at new.yaml:3:44"
    ]


def test_the_backend_that_takes_over_from_a_disabled_one_is_named(rlx, sides):
    mine = (MINE % "Relu").replace("device: cuda", "device: cpu").replace("10", "150")
    sides("", mine + "\noverrides: [{id: onnxruntime-cpu, enabled: false}]")
    assert diff(rlx).out.splitlines()[3:] == [
        "  Relu float32: onnxruntime-cpu → mine; "
        "onnxruntime-cpu: enabled true → false at new.yaml:10:44",
        "  mine is registered, rank 150 at new.yaml:6:11",
    ]


def test_another_device_is_the_cause_where_routing_asks_for_it(rlx, sides):
    sides(MINE % "Add", MINE % "Add" + "\nrouting: {device: cuda}")
    out = diff(rlx).out
    assert "onnxruntime-cpu (cpu:0) → nowhere\n" in out
    assert "routing.device unset → cuda at new.yaml:10:19" in out


def test_the_same_winner_opened_in_another_way_is_a_change(rlx, sides):
    sides(MINE % "Relu" + "\n    options: {a: 1}", MINE % "Relu" + "\n    options: {a: 2}")
    lines = diff(rlx).out.splitlines()
    assert lines[2:] == [
        "p.onnxtxt (1 node): mine (cuda:0), in another way",
        "  mine: options.a 1 → 2 at new.yaml:10:18",
    ]


def test_programs_that_do_not_change_are_counted_and_listed_with_all(rlx, sides):
    sides(FIRST, "overrides: [{id: onnxruntime-cpu, rank: 20}]")
    assert diff(rlx).out == "old.yaml → new.yaml: nothing changes\n"
    assert diff(rlx, "--all").out.splitlines()[2:] == [
        "p.onnxtxt (1 node): onnxruntime-cpu (cpu:0), unchanged"
    ]


def test_a_program_without_a_backend_in_both_is_said(rlx, sides):
    sides(FIRST, LAST, PROGRAM + "f (string[2] x) => (bool[2] y) { y = Equal(x, x) }")
    done = diff(rlx, "--device", "cuda")
    assert done.out == (
        "old.yaml → new.yaml: nothing changes (1 unchanged, without a backend in both)\n"
    )


def test_the_exit_code_tells_of_changes_only_when_asked(rlx, sides):
    sides(FIRST, LAST)
    assert diff(rlx).code == 0
    assert diff(rlx, "--exit-code").code == 1
    sides(FIRST, FIRST)
    assert diff(rlx, "--exit-code").code == 0


def test_faults_of_both_sides_are_shown_together(rlx, sides):
    sides("overrides: [{id: nunpy, rank: 1}]", "overrides: [{id: numpy, rank: high}]")
    done = diff(rlx)
    assert (done.code, done.out) == (4, "")
    assert [line.partition(": ")[0] for line in done.err.splitlines()] == [
        "old.yaml:3:18",
        "new.yaml:3:31",
    ]


def test_programs_that_cannot_be_read_are_all_named(rlx, sides):
    sides(FIRST, LAST)
    done = rlx("diff", "old.yaml", "new.yaml", "p.onnxtxt", "no.onnx", "not.onnx", "--no-probe")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "no.onnx: no such file. Fix: check the path.\n"
        "not.onnx: no such file. Fix: check the path.\n"
    )


def test_variables_and_the_project_s_own_file_count_for_nothing(rlx, sides, manifest, monkeypatch):
    manifest("overrides: [{id: onnxruntime-cpu, enabled: false}]")
    monkeypatch.setenv("RLX_DEVICE", "metal")
    sides(FIRST, FIRST)
    assert "onnxruntime-cpu (cpu:0), unchanged" in diff(rlx, "--all").out


def test_facts_of_another_machine_decide_and_no_probe_runs(rlx, sides, tmp_path, monkeypatch):
    facts = rlx("devices", "--json").json
    for one in facts["facts"]:
        if one["backend"] == "onnxruntime-cpu":
            one.update(available=False, reason="it is not there", fix=None)
    (tmp_path / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    monkeypatch.setattr("rlx.probe.probe", lambda *_: pytest.fail("a probe has run"))
    sides(FIRST, LAST)
    arguments = ("diff", "old.yaml", "new.yaml", "p.onnxtxt", "--facts", "facts.json", "--all")
    assert "numpy (cpu:0), unchanged" in rlx(*arguments).out
    assert rlx(*arguments, "--no-probe").code == 2


def test_markdown_is_a_table_and_folded_details(rlx, sides):
    sides(FIRST, LAST, name="p|`x.onnxtxt")
    done = rlx("diff", "old.yaml", "new.yaml", "p|`x.onnxtxt", "--no-probe", "--format", "markdown")
    assert done.out == (
        "### Routing: 1 of 1 program changes\n"
        "\n"
        "`old.yaml` → `new.yaml`\n"
        "\n"
        "| program | before | after | why |\n"
        "|---|---|---|---|\n"
        "| ``p\\|`x.onnxtxt`` | `onnxruntime-cpu (cpu:0)` | `numpy (cpu:0)` | "
        "`onnxruntime-cpu: rank 10 → 400 at new.yaml:5:33` |\n"
        "\n"
        "<details>\n"
        "<summary><code>p|`x.onnxtxt (1 node)</code></summary>\n"
        "\n"
        "- `Relu float32: onnxruntime-cpu → numpy; onnxruntime-cpu: rank 10 → 400 at "
        "new.yaml:5:33`\n"
        "\n"
        "</details>\n"
    )


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a", "`a`"),
        ("`a", "`` `a ``"),
        ("a``b`c", "```a``b`c```"),
        ("", "`  `"),
        ("\x1b<b>", "`\\x1b<b>`"),
    ],
)
def test_foreign_text_can_not_leave_its_code_span(text, span):
    assert plan.code(text) == span


def test_a_console_without_arrows_gets_ascii(rlx, sides, monkeypatch):
    sides(FIRST, LAST)
    from rlx.cli import diff as command

    monkeypatch.setattr(command.sys, "stdout", type("Out", (), {"encoding": "ascii"})())
    assert command.plain("a → b") == "a -> b"
