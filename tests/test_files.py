"""Files that somebody names: plain ones are read, and nothing else is waited for or opened."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.files import NotPlain, open_plain

posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX file kinds")


def test_a_plain_file_is_read_also_by_way_of_a_link(tmp_path):
    (tmp_path / "a").write_bytes(b"1\r\n2\x1a3")
    with open_plain(tmp_path / "a") as file:
        assert file.read() == b"1\r\n2\x1a3"
    if hasattr(os, "mkfifo"):
        (tmp_path / "link").symlink_to("a")
        with open_plain(str(tmp_path / "link")) as file:
            assert file.read(1) == b"1"


def kinds(folder):
    """Paths of what is no plain file, by what it is called."""
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("pipe")
    here = Path.cwd()
    os.chdir(folder)  # a socket's path may not be long
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    os.chdir(here)
    return {
        folder: "a folder",
        folder / "pipe": "a pipe",
        folder / "link": "a pipe",
        folder / "socket": "a socket",
        "/dev/zero": "a device",
    }


@posix
def test_nothing_else_is_opened(tmp_path):
    for path, kind in kinds(tmp_path).items():
        with pytest.raises(NotPlain) as caught:
            open_plain(path)
        assert (caught.value.kind, caught.value.strerror, caught.value.filename) == (
            kind,
            f"it is {kind}, not a file",
            str(path),
        )


@posix
def test_what_was_exchanged_since_it_was_looked_at_is_not_read(tmp_path, monkeypatch):
    """Whoever puts a pipe in the place of the file is answered at once as well."""
    path = tmp_path / "a"
    path.write_bytes(b"x")
    plain, real = path.stat(), os.open

    def exchanging(*arguments):
        path.unlink()
        os.mkfifo(path)
        return real(*arguments)

    before = len([*Path("/proc/self/fd").iterdir()]) if sys.platform == "linux" else 0
    monkeypatch.setattr(os, "stat", lambda _: plain)
    monkeypatch.setattr(os, "open", exchanging)
    with pytest.raises(NotPlain, match="it is a pipe"):
        open_plain(path)
    if sys.platform == "linux":
        assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_a_missing_file_and_a_nul_are_errors_of_their_own(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "none")
    with pytest.raises(ValueError, match="null"):
        open_plain("a\0b")


COMMANDS = [
    ["run", "FILE"],
    ["run", "MODEL", "--input", "x=FILE"],
    ["explain", "FILE"],
    ["explain", "MODEL", "--facts", "FILE"],
    ["validate", "FILE"],
    ["backends", "--config", "FILE"],
    ["build", "FILE", "--target", "onnxruntime-cpu"],
    ["payload", "check", "FILE"],
    ["payload", "show", "FILE"],
    ["payload", "run", "FILE"],
    ["diff", "FILE", "FILE", "MODEL"],
    ["trust", "FILE"],
]
MODEL = """<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (float[2] y) { y = Neg(x) }"""


@posix
def test_no_command_waits_for_a_pipe(tmp_path):
    """Each is given one that nobody writes to, and has to answer."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "model.onnxtxt").write_text(MODEL)
    script = (
        "import sys, signal; signal.alarm(120)\n"
        "from rlx.cli.app import run\n"
        "for line in sys.stdin.read().splitlines():\n"
        "    sys.stderr.write(f'EXIT {run(line.split(chr(9)))}\\n')\n"
    )
    names = {"FILE": "pipe", "MODEL": "model.onnxtxt"}
    lines = [
        "\t".join(names.get(one, one.replace("=FILE", "=pipe")) for one in command)
        for command in COMMANDS
    ]
    done = subprocess.run(
        [sys.executable, "-c", script],
        input="\n".join(lines),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    codes = [line.split()[1] for line in done.stderr.splitlines() if line.startswith("EXIT")]
    assert len(codes) == len(COMMANDS)
    assert "0" not in codes
    assert "Traceback" not in done.stderr
    assert done.stderr.count("pipe") >= len(COMMANDS)
