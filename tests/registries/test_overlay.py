"""Files judged one by one above what is installed, which is read once."""

import shutil

import pytest

import rlx
from rlx import resources
from rlx.errors import ConfigError
from rlx.freeze import compiled_rows
from rlx.freeze.overlay import Overlay

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"


def write(path, body):
    path.write_text(f"{HEAD}{body}\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def configs(tmp_path, monkeypatch):
    """A copy of the packaged layer, to be edited."""
    folder = tmp_path / "configs"
    shutil.copytree(resources.configs(), folder)
    monkeypatch.setattr(resources, "configs", lambda: folder)
    return folder


def ranks(content):
    return {one.id: one.rank for one in content.registrations}


def test_each_file_stands_above_the_packaged_layer_alone(tmp_path):
    overlay = Overlay()
    one = overlay.of_file(write(tmp_path / "a.yaml", "overrides: [{id: numpy, rank: 1}]"))
    other = overlay.of_file(write(tmp_path / "b.yaml", "overrides: [{id: reference, rank: 2}]"))
    assert ranks(one) == {**ranks(other), "numpy": 1, "reference": 900}
    assert ranks(other)["numpy"] == 200


def test_bytes_are_judged_as_the_file_of_that_name_would_be(tmp_path):
    body = f"{HEAD}overrides: [{{id: nunpy, rank: 1}}]\n"
    path = tmp_path / "a.yaml"
    path.write_text(body, encoding="utf-8")
    with pytest.raises(ConfigError) as of_file:
        Overlay().of_file(str(path))
    with pytest.raises(ConfigError) as of_bytes:
        Overlay().of_bytes(body.encode(), str(path))
    assert str(of_bytes.value) == str(of_file.value)


@pytest.mark.parametrize("name", ["backends.yaml", "operations.yaml", "coverage/numpy.yaml"])
def test_a_file_of_the_packaged_layer_does_not_stand_above_itself(name):
    overlay = Overlay()
    assert overlay.of_file(str(resources.configs() / name)).warnings == ()


def test_a_link_to_the_packaged_file_is_that_file(tmp_path):
    link = tmp_path / "link.yaml"
    link.symlink_to(resources.configs() / "backends.yaml")
    assert Overlay().of_file(str(link)).warnings == ()


def test_a_broken_file_of_the_packaged_layer_is_said_to_be(configs):
    overlay = Overlay()
    path = configs / "tolerances.yaml"
    path.write_text("apiVersion: rlx/v1\nkind: Tolerances\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="'tolerances' is missing from this Tolerances manifest"):
        overlay.of_file(str(path))


def test_a_broken_packaged_layer_is_said_once_and_files_still_show_their_own(
    configs, tmp_path, monkeypatch
):
    from rlx.cli.reports.report import check

    write(configs / "backends.yaml", "devices: 3")
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.yaml", "routing: 3")
    write(tmp_path / "b.yaml", "backend: []")
    faults = [str(fault).partition(". Fix: ")[0] for fault in check(["a.yaml", "b.yaml"]).faults]
    assert faults == [
        "packaged backends.yaml:3:10: devices must be a list, got 3",
        "a.yaml:3:10: routing must be a mapping, got 3",
        "b.yaml:3:1: unknown key 'backend'",
    ]


def test_a_path_that_leads_nowhere_is_a_fault(tmp_path):
    for path in (str(tmp_path / "absent.yaml"), "a\0b.yaml", ""):
        with pytest.raises(ConfigError):
            Overlay().of_file(path)


def test_an_override_of_a_rank_reads_no_claims(tmp_path, monkeypatch):
    """They passed when the layer was packaged, and have a digest of their own."""

    def make(_):
        pytest.fail("the claims were read")

    monkeypatch.setattr(compiled_rows.Table, "_make", make)
    path = write(tmp_path / "a.yaml", "overrides: [{id: numpy, rank: 1}]")
    assert rlx.Registry.load([path]).rank("numpy") == 1
