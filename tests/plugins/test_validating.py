"""`rlx validate` with plugins: below each file, and judged themselves as what they are."""

import json

import pytest

from rlx.cli import app
from rlx.session import default
from tests.plugins.conftest import backend

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"


@pytest.fixture
def validate(site, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def run(body, *arguments):
        (folder / "a.yaml").write_text(f"{HEAD}{body}\n", encoding="utf-8")
        default.forget()
        code = app.run(["validate", *(arguments or ("a.yaml",))])
        return code, capsys.readouterr().out

    return run


def test_a_file_may_change_what_a_plugin_registers(site, validate):
    site.plugin(f"backends:\n{backend('acme')}")
    assert validate("overrides: [{id: acme, rank: 7}]") == (0, "1 file checked: no faults\n")


def test_a_plugins_own_file_does_not_stand_above_itself(site, validate):
    site.plugin(f"backends:\n{backend('acme')}")
    (file,) = site.folder.rglob("backends.yaml")
    assert validate("", str(file)) == (0, "1 file checked: no faults\n")


def test_a_conflict_with_a_plugin_shows_the_place_in_it(site, validate):
    site.plugin(f"backends:\n{backend('acme')}")
    code, out = validate("backends: [{id: acme, device: cpu, rank: 7}]")
    assert code == 1
    lines = out.splitlines()
    assert lines[0].startswith("a.yaml:3:17: backend 'acme' is already registered, at ")
    assert sum(line.count("^^^^") for line in lines) == 1
    assert len(lines) == 7


def test_a_fault_of_entry_points_stands_in_their_file(site, validate, tmp_path):
    info = site.metadata(points="x = acme_nowhere")
    (tmp_path / "project" / ".git").mkdir()
    _, out = validate("", "--format", "github")
    assert out.splitlines()[0] == (
        "::warning title=plugin-place::plugin acme-backend 1.0 entry_points.txt:2:5: no package "
        f"acme_nowhere is installed with it, in {site.folder}. Fix: report this to the plugin's "
        "author, or uninstall it."
    )
    _, out = validate("", "--format", "sarif")
    (result,) = json.loads(out)["runs"][0]["results"]
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": (info / "entry_points.txt").as_uri()},
                "region": {"startLine": 2, "startColumn": 5, "endColumn": 17},
            }
        }
    ]


def test_a_conflict_in_force_shows_the_place_in_the_plugin(site, validate, tmp_path, monkeypatch):
    file = site.plugin(f"backends:\n{backend('acme')}")
    monkeypatch.setenv("RLX_CONFIG", "a.yaml")
    code, out = validate("backends: [{id: acme, device: cpu, rank: 7}]", "--format", "sarif")
    assert code == 1
    (result,) = json.loads(out)["runs"][0]["results"]
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"] == {"uri": file.as_uri()}
