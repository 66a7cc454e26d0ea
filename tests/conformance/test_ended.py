"""Ending `rlx` from outside leaves no file and no process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

TRIES = """
import sys
from rlx import __main__
from rlx.cli import app
from rlx.conformance.pool import Pool

def run(arguments):
    with Pool("numpy") as pool:
        child = pool._children[0]._process.pid
        print(child, flush=True)
        sys.stdin.read()

app.run = run
__main__.main()
"""


@pytest.fixture
def started(tmp_path):
    """A process of ours with a child that waits for trials, and the folder for temporary files."""
    made = subprocess.Popen(
        [sys.executable, "-c", TRIES],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    yield made, tmp_path
    made.kill()
    made.communicate()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_nothing_is_left_behind(started, number, code):
    process, folder = started
    child = int(process.stdout.readline())
    process.send_signal(number)
    assert process.wait() == code
    assert list(folder.iterdir()) == []
    while alive(child):
        time.sleep(0.01)


def alive(process):
    """Whether it still runs; one that ended and that nobody waited for does not."""
    try:
        said = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
        return said.rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
