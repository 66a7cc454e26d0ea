"""`rlx diff`: what OLD, NEW and PROGRAM may be: files, folders, patterns, what git has."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import MLP
from tests.cli.test_diff import FIRST, LAST, MINE, diff


def test_folders_and_patterns_stand_for_their_programs_each_once(rlx, sides, tmp_path):
    sides(FIRST, LAST)
    (tmp_path / "deep").mkdir()
    shutil.copy(MLP, tmp_path / "deep")
    done = rlx("diff", "old.yaml", "new.yaml", ".", "*.onnxtxt", "--no-probe", "--json")
    assert [one["name"] for one in done.json["programs"]] == ["mlp", "p"][::1]
    assert rlx("diff", "old.yaml", "new.yaml", "*.onnx", "--no-probe").code == 2


def test_packaged_and_folders_are_sides(rlx, sides, tmp_path):
    sides(FIRST, LAST)
    (tmp_path / "team").mkdir()
    shutil.copy("new.yaml", tmp_path / "team" / "backends.yaml")
    done = rlx("diff", "packaged", "team", "p.onnxtxt", "--no-probe", "--json")
    cause = done.json["programs"][0]["causes"][0]
    assert (cause["detail"], cause["source"]) == (
        "onnxruntime-cpu: rank 100 → 400",
        "team/backends.yaml:5:33",
    )
    assert cause["old_source"].startswith("packaged backends.yaml:")
    (tmp_path / "empty").mkdir()
    assert rlx("diff", "packaged", "empty", "p.onnxtxt").err.endswith(
        "rlx: empty has no rlx.yaml, no backends.yaml, no configs/backends.yaml. "
        "Fix: name a manifest.\n"
    )


def test_the_file_that_rlx_ships_is_the_packaged_layer_itself(rlx, sides, shipped):
    sides(FIRST, LAST)
    done = rlx(
        "diff", "packaged", str(shipped / "backends.yaml"), "p.onnxtxt", "--no-probe", "--json"
    )
    assert (done.code, done.json["changed"]) == (0, 0)


def test_a_coverage_file_alone_is_refused(rlx, sides):
    sides(FIRST, LAST)
    Path("new.yaml").write_text(
        "apiVersion: rlx/v1\nkind: Coverage\nevidence: {kind: declared}\nrows: []\n"
    )
    assert diff(rlx).err.endswith(
        "new.yaml is of kind Coverage, which alone changes no route. Fix: name the Backends "
        "manifest that refers to it.\n"
    )


@pytest.fixture
def repository(tmp_path):
    """Commits what is in the folder."""

    def commit():
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
            who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
            subprocess.run(["git", *who, *command], cwd=tmp_path, check=True, capture_output=True)

    return commit


def test_a_revision_is_read_with_the_coverage_that_it_had(rlx, sides, repository, tmp_path):
    inline = "coverage: {rows: [{operations: [Relu], types: {T: [float32]}}]}"
    (tmp_path / "cover").mkdir()
    cover = tmp_path / "cover" / "mine.yaml"
    text = "apiVersion: rlx/v1\nkind: Coverage\nevidence: {kind: declared}\nrows:\n"
    cover.write_text(text + "  - {operations: [Relu], types: {T: [float32]}}\n")
    sides("", (MINE % "Relu").replace(inline, "coverage: cover/mine.yaml"))
    repository()
    cover.write_text(text + "  - {operations: [Add], types: {T: [float32]}}\n")
    done = rlx("diff", "HEAD:new.yaml", "new.yaml", "p.onnxtxt", "--no-probe", "--json")
    (changed,) = done.json["programs"]
    assert (changed["old"]["backend"], changed["new"]["backend"]) == ("mine", "onnxruntime-cpu")
    assert changed["operations"][0]["reason"] == "node 'Relu_0' Relu: the operation is not claimed"


def test_places_in_a_revision_name_it(rlx, sides, repository):
    sides(FIRST, "overrides: [{id: nunpy, rank: 1}]")
    repository()
    done = rlx("diff", "HEAD:new.yaml", "old.yaml", "p.onnxtxt", "--no-probe")
    assert done.code == 4
    assert done.err.startswith("HEAD:new.yaml:3:18: override of unknown backend 'nunpy'")


@pytest.mark.parametrize("side", ["HEAD:none.yaml", "nope:new.yaml", "HEAD:..", "@:", "--x:y"])
def test_what_git_does_not_have_is_refused(rlx, sides, repository, side):
    sides(FIRST, LAST)
    repository()
    done = rlx("diff", "--no-probe", "--", side, "old.yaml", "p.onnxtxt")
    assert done.code in (2, 4)
    assert "Fix: " in done.err


def test_outside_of_a_repository_git_s_own_words_are_told(rlx, sides):
    sides(FIRST, LAST)
    done = rlx("diff", "HEAD:new.yaml", "new.yaml", "p.onnxtxt", "--no-probe")
    assert done.code == 2
    assert "git can't be asked: fatal: not a git repository" in done.err
