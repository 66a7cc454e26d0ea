"""The compiled packaged layer: what it holds, and that it is used only where the YAML agrees."""

import copy
import dataclasses
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rlx import resources
from rlx.errors import ConfigError
from rlx.freeze import __main__ as command
from rlx.freeze import compiled, compiled_rows, loading, vocabulary
from rlx.manifest.discovery import find
from rlx.registries import Registry

ROOT = Path(__file__).parents[2]
BASE = ROOT / "tests" / "manifests" / "rules" / "base" / "backends.yaml"
RICH = """\
  - id: rich
    device: metal
    target: rich-target
    rank: 3
    software: true
    factory: "a.b:open"
    install: "pip install rich"
    compiler: "a.b:compile"
    payload_format: blob
    materializer: "a.b:load"
    compiles:
      rows:
        - {operations: [Relu], types: {T: [float32]}}
    coverage: coverage/rich.yaml
    probes:
      - {module: numpy, version: ">=2"}
      - {call: "a.b:probe", timeout: 2.5}
      - {platform: [linux, macos]}
    capabilities: [strings]
    options: {fast: true, sizes: [1, 2], ratio: 0.5, name: "méta"}
    safe_options: [fast]
  - {id: twin, device: cpu, rank: 3}
routing: {kernel_dispatch: native, device: "metal,cpu", backend: rich}
"""
COVERAGE = """\
apiVersion: rlx/v1
kind: Coverage
evidence: {kind: inherited, backend: numpy, engine: rich 1.0, platform: linux}
rows:
  - operations: [Conv, ConvTranspose]
    types: {T: [float32, float16]}
    attributes: {auto_pad: [NOTSET], strides: [null, [1, 1]]}
    ndim: {min: 3, max: 4}
  - {operations: [Elu], types: {T: [float32]}, attributes: {alpha: [1, 0.1]}, ndim: {max: 4}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A packaged folder of our own, with something in every field."""
    (tmp_path / "coverage").mkdir()
    (tmp_path / "coverage" / "rich.yaml").write_text(COVERAGE, encoding="utf-8")
    (tmp_path / "backends.yaml").write_text(
        BASE.read_text(encoding="utf-8") + RICH, encoding="utf-8"
    )
    for name in (vocabulary.SOURCE, vocabulary.COMPILED):
        shutil.copy(ROOT / "configs" / name, tmp_path)
    monkeypatch.setattr(resources, "configs", lambda: tmp_path)
    assert command.main(["--write"]) == 0
    return tmp_path


def test_reading_gives_what_was_written_places_included(folder):
    read = compiled.read(folder)
    parsed = dataclasses.replace(loading.parsed(find(only=True)), vocabulary=None)
    assert read == parsed
    for one, other in zip(read.registrations, parsed.registrations, strict=True):
        for name in ("origin", "history"):
            assert getattr(one, name) == getattr(other, name)
        assert [row.origin for row in one.coverage.rows] == [
            row.origin for row in other.coverage.rows
        ]
        assert [probe.origin for probe in one.probes] == [p.origin for p in other.probes]
        assert one.coverage.digest == other.coverage.digest
    assert [fault.code for fault in read.warnings] == ["equal-ranks"]


def test_a_claims_place_is_its_coverage_file(folder):
    row = Registry.load(only=True).get("rich").coverage.rows[1]
    assert str(row.origin) == "packaged coverage/rich.yaml:9:5"
    assert row.attributes == (("alpha", (1.0, 0.10000000149011612)),)


def test_what_was_inherited_is_marked(folder):
    coverage = Registry.load(only=True).get("rich").coverage
    assert (coverage.evidence, coverage.inherited_from) == ("inherited", "numpy")
    assert (coverage.engine, coverage.platform) == ("rich 1.0", "linux")


def test_check_accepts_what_write_wrote(folder, capsys):
    assert command.main(["--check"]) == 0
    assert capsys.readouterr().err == ""


def test_check_names_the_stale_file_and_the_command(folder, capsys):
    (folder / "backends.yaml").write_text(BASE.read_text(encoding="utf-8"), encoding="utf-8")
    assert command.main(["--check"]) == 1
    assert capsys.readouterr().err == "".join(
        f"configs/{name} is not what its YAML says. Fix: run `python -m rlx.freeze --write`.\n"
        for name in ("compiled.json", "claims.json")
    )


@pytest.mark.parametrize("name", ["backends.yaml", "coverage/rich.yaml"])
def test_an_edited_file_is_read_at_once(folder, name):
    path = folder / name
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("rank: 200", "rank: 4").replace("engine: rich 1.0", "engine: rich 2.0"),
        encoding="utf-8",
    )
    registry = Registry.load(only=True)
    found = (registry.rank("numpy"), registry.get("rich").coverage.engine)
    assert found == ((4, "rich 1.0") if name == "backends.yaml" else (200, "rich 2.0"))


def test_a_broken_edit_is_an_error(folder):
    path = folder / "backends.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("rank: 200", "rank: high"))
    with pytest.raises(ConfigError, match=r"^packaged backends.yaml:22:11: rank must be"):
        Registry.load(only=True)


def test_a_removed_coverage_file_is_an_error(folder):
    (folder / "coverage" / "rich.yaml").unlink()
    with pytest.raises(ConfigError, match=r"the coverage file 'coverage/rich.yaml' is not there"):
        Registry.load(only=True)


@pytest.mark.parametrize("name", [compiled.FILE, compiled_rows.FILE])
@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 0}', '{"format": 1}'])
def test_a_damaged_compiled_file_is_not_used(folder, name, damage):
    before = Registry.load(only=True)
    claimed = before.get("rich").coverage
    (folder / name).write_text(damage)
    after = Registry.load(only=True)
    assert (after.digest, after.get("rich").coverage) == (before.digest, claimed)


def test_rows_are_made_when_they_are_read_and_then_are_a_tuple(folder, monkeypatch):
    def fresh():
        monkeypatch.setattr(compiled, "_kept", None)  # what an earlier load has looked at
        return Registry.load(only=True).get("rich").coverage

    made = []
    make = compiled_rows.Table._make
    monkeypatch.setattr(compiled_rows.Table, "_make", lambda one: made.append(1) or make(one))
    coverage = fresh()
    assert made == []
    plain = coverage.rows
    assert (made, type(plain), len(plain), coverage.rows is plain) == ([1], tuple, 2, True)
    for copied in (pickle.loads(pickle.dumps(fresh())), copy.deepcopy(fresh()), copy.copy(fresh())):
        assert (type(copied.rows), copied) == (tuple, coverage)
    assert (fresh() == coverage, hash(fresh()) == hash(coverage)) == (True, True)
    assert repr(fresh()) == repr(coverage)
    assert dataclasses.replace(fresh(), engine="other").rows == plain
    with pytest.raises(dataclasses.FrozenInstanceError):
        coverage.rows = ()


def test_a_missing_compiled_file_is_not_needed(folder):
    before = Registry.load(only=True).digest
    for name in (compiled.FILE, compiled_rows.FILE, vocabulary.COMPILED):
        (folder / name).unlink()
    assert Registry.load(only=True).digest == before


def test_an_edited_vocabulary_is_read_at_once(folder):
    path = folder / vocabulary.SOURCE
    path.write_text(path.read_text(encoding="utf-8").replace("name: Elu\n", "name: Eluu\n"))
    with pytest.raises(ConfigError, match="unknown operation 'Elu'"):
        Registry.load(only=True)


def test_the_shipped_files_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "-m", "rlx.freeze", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_shipped_files_name_no_place_on_a_machine():
    data = json.loads((ROOT / "configs" / "compiled.json").read_text(encoding="utf-8"))
    claims = json.loads((ROOT / "configs" / "claims.json").read_text(encoding="utf-8"))
    assert all(path.startswith("packaged ") for path in (*data["paths"], *claims["paths"]))
    assert set(data["sources"]) >= {"backends.yaml", "operations.yaml"}
