"""Reading files: only plain ones, and an answer at once whatever the path is."""

import os
import socket
import sys
from pathlib import Path

import pytest

from rlx.errors import ConfigError
from rlx.manifest import read_file

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX file kinds")


def refusal(path) -> str:
    with pytest.raises(ConfigError) as caught:
        read_file(path, shown="f.yaml")
    return str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    assert refusal(tmp_path / "none.yaml") == (
        "f.yaml: the file is not there. Fix: correct the path."
    )


def test_a_path_below_a_file_cannot_be_read(tmp_path):
    (tmp_path / "file").write_text(HEAD)
    assert refusal(tmp_path / "file" / "f.yaml") == (
        "f.yaml: the file can't be read: Not a directory. Fix: check the path and its permissions."
    )


def test_a_folder_is_not_a_manifest(tmp_path):
    assert refusal(tmp_path) == (
        "f.yaml: a manifest must be a plain file, got a folder. Fix: name a plain YAML file."
    )


@posix
def test_a_pipe_that_nobody_writes_to_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == (
        "f.yaml: a manifest must be a plain file, got a pipe. Fix: name a plain YAML file."
    )


@posix
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_not_a_manifest(path):
    assert refusal(path) == (
        "f.yaml: a manifest must be a plain file, got a device. Fix: name a plain YAML file."
    )


@posix
def test_a_socket_is_not_a_manifest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert "got a socket" in refusal("s")


@posix
def test_a_link_to_nothing_and_a_link_to_itself_are_told_apart(tmp_path):
    (tmp_path / "dangling").symlink_to("none.yaml")
    (tmp_path / "loop").symlink_to("loop")
    assert refusal(tmp_path / "dangling") == (
        "f.yaml: the link leads to no file. Fix: correct the link, or remove it."
    )
    assert refusal(tmp_path / "loop").startswith("f.yaml: the file can't be read: Too many levels")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_file_that_fails_while_it_is_read_is_refused():
    assert refusal("/proc/self/mem") == (
        "f.yaml: the file can't be read: Input/output error. "
        "Fix: check the path and its permissions."
    )


@posix
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    path = tmp_path / "secret.yaml"
    path.write_text(HEAD)
    path.chmod(0)
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)  # root may read everything
    try:
        message = refusal(path)
    finally:
        os.seteuid(before)
    assert message == (
        "f.yaml: the file can't be read: Permission denied. "
        "Fix: check the path and its permissions."
    )


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_an_impossible_name_is_refused(name):
    assert refusal(name).startswith("f.yaml: the file can't be read: ")


@pytest.mark.skipif(sys.platform != "linux", reason="a sparse file that costs nothing")
def test_of_a_huge_file_only_what_is_needed_is_read(tmp_path):
    with (tmp_path / "huge.yaml").open("wb") as file:
        file.truncate(1 << 40)
    assert refusal(tmp_path / "huge.yaml").startswith(
        "f.yaml: a manifest may have 1048576 bytes, got more."
    )


def test_messages_name_the_file_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad\x1b[31m.yaml").write_text("a: no\n")
    with pytest.raises(ConfigError) as caught:
        read_file("bad\x1b[31m.yaml")
    assert str(caught.value).startswith("bad\\x1b[31m.yaml:1:4: ")
