"""`rlx rank`, `enable`, `disable`: what they print, and what they write."""

import stat

import pytest

from rlx.cli.init import HEAD
from tests.cli.conftest import SHORT
from tests.three_backends import place


def test_a_project_without_a_file_gets_one(rlx, tmp_path):
    (tmp_path / ".git").mkdir()
    done = rlx("rank", "numpy", "--before", "onnxruntime-cpu")
    line = HEAD.count("\n") + 3
    assert (done.code, done.err, done.out) == (
        0,
        "",
        "created backends.yaml: rank of numpy is 50, directly before onnxruntime-cpu (100) "
        f"(backends.yaml:{line}:23; was 200, {place('numpy', 'rank')})\n",
    )
    text = (tmp_path / "backends.yaml").read_bytes().decode()
    assert text == f"{HEAD}\noverrides:\n  - {{id: numpy, rank: 50}}\n"
    assert rlx("validate").out.endswith("no faults\n")
    ids = [one["id"] for one in rlx("backends", "--json").json["backends"]]
    assert ids == ["numpy", "onnxruntime-cpu", "reference"]


def test_the_file_is_created_where_the_repository_begins(rlx, tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert rlx("disable", "numpy").out.startswith(
        "created ../../backends.yaml: enabled of numpy is false (../../backends.yaml:"
    )
    assert rlx("enable", "numpy").out.startswith(
        "edited ../../backends.yaml: enabled of numpy is true (../../backends.yaml:"
    )


def test_a_value_is_changed_where_it_stands_and_nothing_else(rlx, file):
    body = "overrides:\r\n  - {'id': numpy, rank:  7 }  # é\r\n# end"
    file(body)
    assert rlx("rank", "numpy", "--to", "8").out == (
        "edited backends.yaml: rank of numpy is 8 (backends.yaml:4:26; was 7, backends.yaml:4:26)\n"
    )
    assert file() == SHORT + body.replace("7", "8")
    assert rlx("disable", "numpy").out == (
        "edited backends.yaml: enabled of numpy is false "
        "(backends.yaml:4:30; was true by default)\n"
    )
    assert file() == SHORT + body.replace("numpy", "numpy, 'enabled': false").replace("7", "8")


def test_a_byte_order_mark_stays(rlx, tmp_path):
    path = tmp_path / "backends.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SHORT.encode())
    assert rlx("disable", "numpy").code == 0
    assert path.read_bytes().startswith(b"\xef\xbb\xbfapiVersion")


def test_a_dry_run_prints_the_difference_and_writes_nothing(rlx, file):
    before = file("overrides:\n  - {id: numpy, rank: 7}\n")
    assert rlx("rank", "numpy", "--to", "8", "--dry-run").out == (
        "--- a/backends.yaml\n+++ b/backends.yaml\n@@ -1,4 +1,4 @@\n apiVersion: rlx/v1\n"
        " kind: Backends\n overrides:\n-  - {id: numpy, rank: 7}\n+  - {id: numpy, rank: 8}\n"
    )
    assert file() == before


def test_a_dry_run_of_a_new_file_creates_none(rlx, tmp_path):
    done = rlx("disable", "numpy", "--dry-run")
    assert done.out.startswith("--- /dev/null\n+++ b/backends.yaml\n@@ -0,0 +1,")
    assert list(tmp_path.iterdir()) == []


def test_as_json_there_is_everything(rlx, file):
    file("overrides: []\n")
    done = rlx("rank", "numpy", "--after", "reference", "--json")
    assert done.json == {
        "file": "backends.yaml",
        "backend": "numpy",
        "key": "rank",
        "value": 1000,
        "source": "backends.yaml:3:31",
        "was": 200,
        "was_source": place("numpy", "rank"),
        "changed": True,
        "written": True,
        "created": False,
        "diff": "--- a/backends.yaml\n+++ b/backends.yaml\n@@ -1,3 +1,3 @@\n apiVersion: rlx/v1\n"
        " kind: Backends\n-overrides: []\n+overrides: [{id: numpy, rank: 1000}]\n",
        "notes": [],
    }
    again = rlx("rank", "numpy", "--after", "reference", "--json").json
    assert (again["changed"], again["written"], again["diff"]) == (False, False, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rank", "numpy", "--to", "7"), "rank of numpy is 7 (backends.yaml:4:23)"),
        (
            ("rank", "NumPy", "--before", "onnxruntime-cpu"),
            "rank of numpy is 7, directly before onnxruntime-cpu (100) (backends.yaml:4:23)",
        ),
        (
            ("rank", "reference", "--to", "900"),
            "rank of reference is 900 (REFERENCE)",
        ),
        (("enable", "numpy"), "enabled of numpy is true (by default)"),
    ],
)
def test_what_holds_already_is_said_and_not_written(rlx, file, arguments, said):
    before = file("overrides:\n  - {id: numpy, rank: 7}\n")
    said = said.replace("REFERENCE", place("reference", "rank"))
    assert rlx(*arguments).out == f"nothing to change: {said}\n"
    assert file() == before


def test_nothing_to_change_creates_no_file(rlx, tmp_path):
    assert (
        rlx("enable", "numpy").out == "nothing to change: enabled of numpy is true (by default)\n"
    )
    done = rlx("enable", "numpy", "--json").json
    assert (done["created"], done["source"], done["was"]) == (False, None, None)
    assert list(tmp_path.iterdir()) == []


def test_a_backend_that_the_file_registers_is_edited_there(rlx, file):
    body = "backends:\n  - id: mine\n    device: cpu\n    rank: 5 # ours\n"
    file(body)
    assert rlx("rank", "mine", "--after", "numpy").out == (
        "edited backends.yaml: rank of mine is 550, directly after numpy (200) "
        "(backends.yaml:6:11; was 5, backends.yaml:6:11)\n"
    )
    assert file() == SHORT + body.replace("5 #", "550 #")


def test_a_stronger_layer_that_wins_is_said(rlx, file, monkeypatch):
    file("overrides: [{id: numpy, rank: 9}]\n", "top.yaml")
    file("overrides: []\n")
    monkeypatch.setenv("RLX_CONFIG", "top.yaml")
    assert rlx("rank", "numpy", "--to", "8").out == (
        "edited backends.yaml: rank of numpy is 8 "
        f"(backends.yaml:3:31; was 200, {place('numpy', 'rank')})\n"
        "note: rank of numpy stays 9, which top.yaml:3:31 sets and wins\n"
    )
    assert rlx("rank", "numpy", "--to", "7", "--file", "top.yaml").out == (
        "edited top.yaml: rank of numpy is 7 (top.yaml:3:31; was 9, top.yaml:3:31)\n"
    )


@pytest.mark.parametrize("name", ["other.yaml", "backends.yml"])
def test_a_file_that_nothing_names_is_said_to_be_read_by_nobody(rlx, file, name):
    file("", name)
    assert rlx("disable", "numpy", "--file", name).out == (
        f"edited {name}: enabled of numpy is false ({name}:5:26; was true by default)\n"
        f"note: {name} is read only where it is named: RLX_CONFIG, or --config\n"
    )


def test_an_edit_of_a_trusted_file_says_that_trust_is_gone(rlx, file, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file("backends: [{id: mine, device: cpu, rank: 3}]\n")
    assert rlx("trust").code == 0
    assert rlx("rank", "mine", "--to", "4").out == (
        "edited backends.yaml: rank of mine is 4 (backends.yaml:3:42; was 3, backends.yaml:3:42)\n"
        "note: backends.yaml was trusted; run `rlx trust backends.yaml` again after the edit\n"
    )
    assert rlx("backends").code == 4


def test_a_link_stays_and_the_file_behind_it_keeps_its_mode(rlx, tmp_path):
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "shared.yaml"
    real.write_text(SHORT, encoding="utf-8")
    real.chmod(0o640)
    (tmp_path / "backends.yaml").symlink_to("real/shared.yaml")
    assert rlx("disable", "numpy").code == 0
    assert (tmp_path / "backends.yaml").is_symlink()
    assert "enabled: false" in real.read_text(encoding="utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert [path.name for path in real.parent.iterdir()] == ["shared.yaml"]


def test_the_packaged_file_of_a_checkout_is_edited_where_it_registers(rlx, tmp_path, monkeypatch):
    import shutil

    from rlx import resources

    shutil.copytree(resources.configs(), tmp_path / "configs")
    monkeypatch.setattr(resources, "configs", lambda: tmp_path / "configs")
    path = tmp_path / "configs" / "backends.yaml"
    before = path.read_text(encoding="utf-8")
    where = place("numpy", "rank").replace("packaged ", "configs/")
    assert rlx("rank", "numpy", "--to", "50", "--file", "configs/backends.yaml").out == (
        f"edited configs/backends.yaml: rank of numpy is 50 ({where}; was 200, {where})\n"
    )
    assert path.read_text(encoding="utf-8") == before.replace("rank: 200", "rank: 50")


def test_a_rank_that_another_backend_has_is_said_with_how_to_part_them(rlx, file):
    file("overrides:\n  - {id: numpy, rank: 7}\n")
    note = (
        "note: rank 100 is shared by numpy, onnxruntime-cpu, tried in this order; to settle it: "
        "`rlx rank numpy --before onnxruntime-cpu`, or `--after onnxruntime-cpu`\n"
    )
    assert rlx("rank", "numpy", "--to", "100", "--dry-run").out.endswith(note)
    assert rlx("rank", "numpy", "--to", "100").out == (
        "edited backends.yaml: rank of numpy is 100 "
        f"(backends.yaml:4:23; was 7, backends.yaml:4:23)\n{note}"
    )
    assert rlx("rank", "numpy", "--after", "onnxruntime-cpu").out == (
        "edited backends.yaml: rank of numpy is 500, directly after onnxruntime-cpu (100) "
        "(backends.yaml:4:23; was 100, backends.yaml:4:23)\n"
    )
