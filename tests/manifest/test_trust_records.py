"""The record of trusted files: whole or an error, the user's alone, and never lost to a race."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.errors import TrustError
from rlx.manifest import records, trust
from tests.manifest.conftest import NOON, kept, read, standing, store

TRY = "name the file each time instead: RLX_CONFIG=FILE, or --config FILE."
AGAIN = "delete that file, then trust again what you still trust."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is not JSON"),
        ("\udcff", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "it has no version"),
        ('{"version": 2}', "its version is 2, not 1"),
        ('{"version": "\\u001b[31m"}', r"its version is '\x1b[31m', not 1"),
        ('{"version": 1}', "'trusted' is not an object"),
        ('{"version": 1, "trusted": {"/a": 3}}', "the record of /a is not whole"),
        (
            '{"version": 1, "trusted": {"/a\\n": {"folder": "/", "when": "", "sha256": ""}}}',
            r"the record of /a\n is not whole",
        ),
        (
            '{"version": 1, "trusted": {"/a": {"folder": "/", "when": "", "sha256": "",'
            ' "references": {"b": 1}}}}',
            "the record of /a is not whole",
        ),
    ],
)
def test_a_broken_store_is_an_error_and_nobody_is_trusted(project, text, why):
    store().parent.mkdir(parents=True)
    store().write_text(text, errors="surrogateescape")
    message = f"the record of trusted files is broken: {why}"
    for use in (trust.standings, lambda: trust.record(read()), lambda: trust.revoke("a")):
        with pytest.raises(TrustError) as caught:
            use()
        assert str(caught.value) == f"{store()}: {message}. Fix: {AGAIN}"
    assert standing() == (False, f"{store()}: {message}")
    assert store().read_text(errors="surrogateescape") == text


def test_a_control_character_in_a_record_never_reaches_the_console(project):
    trust.record(read(), NOON)
    whole = store().read_text()
    store().write_text(whole.replace('"when": "', '"when": "\\u001b[31m\\n'))
    (one,) = trust.standings()
    assert one.record.when == r"\x1b[31m\n2026-05-04 12:00:00Z"


def test_a_store_that_is_no_plain_file_is_not_waited_for(project):
    store().parent.mkdir(parents=True)
    os.mkfifo(store())
    with pytest.raises(TrustError) as caught:
        trust.record(read())
    assert str(caught.value) == (
        f"{store()}: the record of trusted files is not a plain file. Fix: {AGAIN}"
    )


def test_a_store_that_grew_without_bound_is_refused(project):
    store().parent.mkdir(parents=True)
    with store().open("wb") as file:
        file.truncate(records.MAX_BYTES + 1)
    with pytest.raises(TrustError, match="it has more than 16777216 bytes"):
        trust.standings()


@pytest.mark.parametrize("home", ["/dev/null", "/proc/nowhere"])
def test_a_home_that_can_hold_nothing_trusts_nobody_and_says_so(project, monkeypatch, home):
    monkeypatch.setenv("XDG_STATE_HOME", home)
    assert standing() == (False, "")
    assert trust.standings() == ()
    with pytest.raises(TrustError) as caught:
        trust.record(read())
    reason = {"/dev/null": "Not a directory", "/proc/nowhere": "No such file or directory"}[home]
    assert str(caught.value) == (
        f"{home}/rlx/trust.json: the record of trusted files can't be written: {reason}. Fix: {TRY}"
    )


@pytest.mark.parametrize("home", ["state", "~/state"])
def test_a_project_can_not_bring_its_own_record(project, monkeypatch, home):
    trust.record(read(), NOON)
    inside = Path(home, "rlx", "trust.json")
    inside.parent.mkdir(parents=True)
    store().rename(inside)
    monkeypatch.setattr("platformdirs.user_state_dir", lambda *_, **__: f"{home}/rlx")
    assert standing() == (False, "")
    with pytest.raises(TrustError) as caught:
        trust.record(read())
    assert str(caught.value) == (
        f"{inside}: this user has no home folder to keep a record of trusted files in. Fix: {TRY}"
    )


def test_a_store_that_may_not_be_written_keeps_what_it_holds(project, monkeypatch):
    trust.record(read(), NOON)
    before = store().read_bytes()

    def refuse(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(TrustError) as caught:
        trust.revoke("backends.yaml")
    assert str(caught.value) == (
        f"{store()}: the record of trusted files can't be written: Read-only file system. "
        f"Fix: {TRY}"
    )
    assert store().read_bytes() == before
    assert kept() == ["trust.json", "trust.lock"]
    assert standing() == (True, "")


def test_a_store_that_may_not_be_read_trusts_nobody_and_says_so(project, monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("rlx.manifest.records._bytes", refuse)
    reason = f"{store()}: the record of trusted files can't be read: Permission denied"
    assert standing() == (False, reason)


WRITER = """\
import sys
from pathlib import Path
from rlx.manifest import layers, trust
from rlx.manifest.discovery import LayerPath
name = sys.argv[1]
for number in range(25):
    path = Path(f"{name}{number}.yaml")
    path.write_text("apiVersion: rlx/v1\\nkind: Backends\\n")
    trust.record(layers.load([LayerPath("argument", path, path.name)]).manifests[0])
"""


def test_processes_that_record_at_once_lose_nothing(project):
    command = [sys.executable, "-c", WRITER]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [subprocess.Popen([*command, name], env=env) for name in ("a", "b", "c")]
    assert [one.wait() for one in writers] == [0, 0, 0]
    names = {Path(one.record.path).name for one in trust.standings()}
    assert names == {f"{name}{number}.yaml" for name in "abc" for number in range(25)}
    assert json.loads(store().read_text())["version"] == 1
