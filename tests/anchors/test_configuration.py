"""Cases that other tools got wrong: files, names, what a check blesses and a run refuses."""

import dataclasses
import importlib
import json
from operator import attrgetter
from pathlib import Path

import pytest

from rlx import testing
from rlx.cli import app
from rlx.cli.reports import report
from rlx.device import DeviceSpec
from rlx.errors import ConfigError, DuplicateBackend, InvalidDevice
from rlx.registries import Registry
from rlx.session import default

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"
MANIFESTS = Path(__file__).parents[1] / "manifests"
CORPUS = sorted(
    path
    for folder in ("valid", "invalid/shape", "invalid/syntax", "rules")
    for path in (MANIFESTS / folder).glob("*.yaml")
)


def test_what_validating_finds_loading_finds_and_the_other_way_round(monkeypatch):
    """Section 5, 121 and 130: a check blessed what the run refused, as it read in its own way."""
    monkeypatch.chdir(MANIFESTS)
    for path in CORPUS:
        name = path.relative_to(MANIFESTS).as_posix()
        try:
            loaded = Registry.load((name,), only=True).warnings
        except ConfigError as error:
            loaded = error.faults
        judged = [fault for fault in report.check((name,)).faults if fault.severity == "error"]
        assert judged == [fault for fault in loaded if fault.severity == "error"], name


def test_there_are_enough_files_to_compare():
    assert len(CORPUS) > 250


@pytest.mark.parametrize("same", ["id", "target"])
def test_a_second_backend_is_refused_by_each_thing_that_must_be_its_own(same):
    """Section 5, 79: the guard against duplicates compared the wrong key, and never found one."""
    one = testing.registration("one", target="one-target")
    other = testing.registration("two", target="two-target")
    registry = Registry.load(only=True).with_backend(one)
    assert registry.with_backend(other).get("two") is not None
    clash = dataclasses.replace(other, **{same: getattr(one, same)})
    with pytest.raises(DuplicateBackend if same == "id" else ConfigError):
        registry.with_backend(clash)


@pytest.mark.needs("onnxruntime")
def test_every_entry_point_that_is_shipped_leads_to_a_function():
    """Section 5, 83: a backend was declared, and what opens it was left out of the build."""
    for one in Registry.load(only=True).registrations:
        for entry in (one.factory, one.compiler, one.materializer):
            if entry is not None:
                module, _, attribute = entry.partition(":")
                assert callable(attrgetter(attribute)(importlib.import_module(module)))


@pytest.mark.parametrize("text", ["cuda?k=v", "cuda:0?k=v", "cuda/0", "cuda://0", "cuda:0#1"])
def test_what_a_later_grammar_may_need_is_refused_now(text):
    """Section 5, 136: paths and queries were wanted later, when other readings had users."""
    with pytest.raises(InvalidDevice):
        DeviceSpec.parse(text)


def test_the_files_that_are_in_force_can_be_listed(tmp_path, monkeypatch, capsys):
    """Section 5, 43 and 82: not found, and nobody said which places had been looked at."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "inner").mkdir()
    (tmp_path / "rlx.yaml").write_text(f"{HEAD}overrides: [{{id: numpy, rank: 5}}]\n")
    (tmp_path / "named.yaml").write_text(f"{HEAD}overrides: [{{id: numpy, rank: 6}}]\n")
    monkeypatch.chdir(tmp_path / "inner")
    monkeypatch.setenv("RLX_CONFIG", "../named.yaml")
    default.forget()
    assert app.run(["validate", "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)["checked"]
    assert [name for name in checked if "packaged" not in name] == ["../rlx.yaml", "../named.yaml"]
    assert checked[0] == "packaged backends.yaml"
