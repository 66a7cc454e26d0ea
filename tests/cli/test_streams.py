"""Consoles that are closed, full or gone: no traceback, and the exit code of what was done."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PROJECT

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def shell(line, tmp_path, **variables):
    """Exit code, standard output and standard error of `RLX arguments` in a shell."""
    command = line.replace("RLX", f'"{sys.executable}" -m rlx')
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), **variables}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("RLX backends >&-", 0),
        ("RLX --help >&-", 0),
        ("RLX backends --json >&- 2>&-", 0),
        ("RLX backends --why nobody 2>&-", 2),
        ("RLX backends --why nobody --json >&-", 2),
        ("RLX validate absent.yaml >&-", 1),
    ],
)
def test_a_closed_stream_changes_no_exit_code(tmp_path, line, code):
    assert shell(line, tmp_path) == (code, "", "")


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", ["--help", "backends", "backends --json"])
def test_a_full_disk_is_said_once(tmp_path, arguments):
    assert shell(f"RLX {arguments} > {FULL}", tmp_path) == (
        1,
        "",
        "rlx: [Errno 28] No space left on device. "
        "Fix: check the path, its permissions, and the room that is left.\n",
    )


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_an_error_that_cannot_be_said_keeps_its_exit_code(tmp_path):
    assert shell(f"RLX backends --why nobody 2> {FULL}", tmp_path) == (2, "", "")


def test_a_removed_working_folder_is_a_file_that_is_not_there(tmp_path):
    line = "mkdir gone && cd gone && rmdir ../gone && RLX backends --config a.yaml"
    assert shell(line, tmp_path) == (
        4,
        "",
        "a.yaml: the file is not there. Fix: correct the path.\n",
    )


def test_an_unknown_variable_is_warned_of_on_one_line(tmp_path):
    code, _, err = shell("RLX env", tmp_path, RLX_UNHEARD_OF="1")
    assert (code, err) == (
        0,
        "warning: unknown variable RLX_UNHEARD_OF is ignored. Fix: unset it; `rlx env` lists "
        "those that rlx reads.\n",
    )


def test_a_warning_that_python_makes_an_error_is_bad_usage(tmp_path):
    code, out, err = shell("RLX env", tmp_path, RLX_UNHEARD_OF="1", PYTHONWARNINGS="error")
    assert (code, out, err) == (
        2,
        "",
        "rlx: unknown variable RLX_UNHEARD_OF is ignored. Fix: unset it; `rlx env` lists those "
        "that rlx reads.\n",
    )
