"""200 hostile files and more: a clear error at once, little memory, and nothing is run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
SECONDS, MEGABYTES = 1, 200
GUARD = 10
"""Processor time on a busy machine is no measure: `python -m tests.manifest.hostile` shows it."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, for each its memory")


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """What the command line said of every file, each in a process of its own."""
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("none"))}
    done = subprocess.run(
        [sys.executable, "-m", "tests.manifest.hostile", "--json"],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_there_are_at_least_two_hundred_and_each_has_a_name_of_its_own(judged):
    names = [one["name"] for one in judged[:-1]]
    assert len(names) >= 200
    assert len(set(names)) == len(names)


def test_each_is_refused_with_what_to_do_and_without_a_traceback(judged):
    for one in judged[:-1]:
        text = one["out"] + one["err"]
        assert one.get("raised") is None, one
        assert one["code"] in (1, 2), one["name"]
        assert "Fix: " in text, one["name"]
        assert "Traceback" not in text, one["name"]


def test_what_is_printed_is_short_and_harmless(judged):
    """No control character, no mark that turns text round, and no line of a MiB."""
    for one in judged[:-1]:
        text = one["out"] + one["err"]
        assert len(text) < 300_000, one["name"]
        assert max(map(len, text.splitlines())) < 6_000, one["name"]  # a path is told whole
        assert not re.search(
            "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069]", text
        ), one


def test_nothing_is_run_and_no_process_socket_or_library_is_opened(judged):
    assert [one["name"] for one in judged[:-1] if one["caused"]] == []
    assert judged[-1] == {"ran": False}


def test_none_takes_long_or_much_memory(judged):
    for one in judged[:-1]:
        assert one["processor_seconds"] < GUARD * SECONDS, one["name"]
        assert one["megabytes"] < MEGABYTES, one["name"]
