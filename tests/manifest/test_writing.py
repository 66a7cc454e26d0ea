"""Replacing a file: as a whole, with its permissions, through links, and never half."""

import os
import stat

import pytest

from rlx.manifest.writing import replace


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"old")
    return path


def test_the_bytes_and_the_permissions(path):
    for mode in (0o600, 0o664, 0o444, 0o4755):
        path.chmod(mode)
        replace(path, b"new\r\n")
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new\r\n", mode)


def test_a_mode_that_is_asked_for_holds(path):
    replace(path, b"new", mode=0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_file_has_what_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        replace(tmp_path / "b.yaml", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "b.yaml").stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can chown")
def test_the_owner_stays(path):
    os.chown(path, 12345, 54321)
    replace(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_link_stays_a_link(path, tmp_path):
    link = tmp_path / "link.yaml"
    link.symlink_to("a.yaml")
    replace(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("step", ["os.fsync", "os.replace"])
def test_what_fails_leaves_the_old_file_and_nothing_beside_it(path, monkeypatch, step):
    def full(*_):
        raise OSError(28, "No space left on device", "elsewhere")

    monkeypatch.setattr(step, full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        replace(path, b"new")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert [one.name for one in path.parent.iterdir()] == ["a.yaml"]


def test_an_interruption_leaves_nothing_beside_it(path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace(path, b"new")
    assert [one.name for one in path.parent.iterdir()] == ["a.yaml"]


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        replace(tmp_path / "none" / "a.yaml", b"new")
    assert caught.value.filename == str(tmp_path / "none" / "a.yaml")


def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("é" * 120 + ".yaml")
    replace(path, b"new")
    assert path.read_bytes() == b"new"
