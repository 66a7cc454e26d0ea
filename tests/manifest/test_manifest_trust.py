"""Trust in a project's file: the bytes that were recorded, by real path, and nothing else."""

import contextlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rlx.errors import ConfigError, TrustError
from rlx.manifest import layers, records, trust
from rlx.manifest.discovery import find

BODY = """\
apiVersion: rlx/v1
kind: Backends
backends:
  - {id: mine, device: cpu, coverage: c.yaml}
"""
COVERAGE = """\
apiVersion: rlx/v1
kind: Coverage
evidence: {kind: declared}
rows: []
"""
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
ON = "since this file was trusted on 2026-05-04 12:00:00Z"
TRY = "name the file each time instead: RLX_CONFIG=FILE, or --config FILE."
AGAIN = "delete that file, then trust again what you still trust."


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project's folder, with its file and the coverage that it names; and a store beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("backends.yaml").write_text(BODY)
    Path("c.yaml").write_text(COVERAGE)
    return folder


def read():
    """The project's manifest, as every command reads it."""
    (path,) = (one for one in find() if one.layer == "project")
    return layers.load([path]).manifests[0]


def standing():
    manifest = read()
    references = {one.trusted for _, one in manifest.references}
    assert references <= {manifest.trusted}
    return manifest.trusted, manifest.distrust


def store():
    return records.store()


def kept():
    return sorted(path.name for path in store().parent.iterdir())


def test_a_file_is_trusted_once_it_is_recorded_and_not_after_it_is_revoked(project):
    assert standing() == (False, "")
    made = trust.record(read(), NOON)
    assert (made.path, made.when) == (str(project / "backends.yaml"), "2026-05-04 12:00:00Z")
    assert standing() == (True, "")
    assert trust.revoke("backends.yaml") == made
    assert standing() == (False, "")


@pytest.mark.parametrize("name", ["backends.yaml", "c.yaml"])
def test_one_byte_takes_the_trust_back_wherever_it_stands(project, name):
    trust.record(read(), NOON)
    path = project / name
    before = path.read_bytes()
    for position in range(len(before)):
        for flip in (1, 128):
            changed = bytearray(before)
            changed[position] ^= flip
            path.write_bytes(changed)
            with contextlib.suppress(ConfigError):  # it can't be read at all
                assert standing() == (False, f"{name} changed {ON}")
    path.write_bytes(before + b"\n")
    assert standing() == (False, f"{name} changed {ON}")
    path.write_bytes(before[:-1])
    assert standing() == (False, f"{name} changed {ON}")
    path.write_bytes(before)
    assert standing() == (True, "")


def test_of_a_changed_file_what_it_refers_to_is_not_said_as_well(project):
    trust.record(read(), NOON)
    Path("d.yaml").write_text(COVERAGE)
    Path("backends.yaml").write_text(BODY.replace("c.yaml", "d.yaml"))
    assert standing() == (False, f"backends.yaml changed {ON}")


def test_a_coverage_file_that_is_gone_is_a_fault_and_in_the_list_a_change(project):
    trust.record(read(), NOON)
    Path("c.yaml").unlink()
    with pytest.raises(ConfigError, match=r"the coverage file 'c\.yaml' is not there"):
        read()
    (listed,) = trust.standings()
    assert (listed.state, listed.changed) == ("changed", (str(project / "c.yaml"),))


def test_a_link_is_trusted_by_the_file_that_it_leads_to(project):
    Path("backends.yaml").rename("real.yaml")
    Path("backends.yaml").symlink_to("real.yaml")
    assert trust.record(read(), NOON).path == str(project / "real.yaml")
    assert standing() == (True, "")
    Path("other.yaml").write_text(BODY)
    Path("backends.yaml").unlink()
    Path("backends.yaml").symlink_to("other.yaml")
    assert standing() == (False, "")


def test_a_link_elsewhere_needs_the_same_coverage_beside_it(project, tmp_path, monkeypatch):
    trust.record(read(), NOON)
    other = tmp_path / "other"
    other.mkdir()
    (other / "backends.yaml").symlink_to(project / "backends.yaml")
    (other / "c.yaml").write_text(COVERAGE)
    monkeypatch.chdir(other)
    assert standing() == (True, "")
    (other / "c.yaml").write_text(f"{COVERAGE}#\n")
    assert standing() == (False, f"c.yaml changed {ON}")


def test_a_file_that_was_moved_or_copied_is_not_trusted_there(project, tmp_path, monkeypatch):
    trust.record(read(), NOON)
    project.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    assert standing() == (False, "")
    (listed,) = trust.standings()
    assert (listed.state, listed.changed) == ("missing", ())
    assert trust.revoke(listed.record.path) == listed.record


def test_what_was_read_is_what_is_trusted_though_the_file_changes_meanwhile(project):
    manifest = read()
    Path("backends.yaml").write_text(BODY.replace("mine", "evil"))
    trust.record(manifest, NOON)
    assert standing() == (False, f"backends.yaml changed {ON}")


def test_what_is_listed_is_read_again(project):
    trust.record(read(), NOON)
    assert [one.state for one in trust.standings()] == ["valid"]
    Path("backends.yaml").write_text("x")
    assert [(one.state, one.changed) for one in trust.standings()] == [
        ("changed", (str(project / "backends.yaml"),))
    ]
    Path("backends.yaml").unlink()
    Path("backends.yaml").mkdir()
    assert [one.state for one in trust.standings()] == ["changed"]


def test_the_store_is_the_users_alone(project):
    trust.record(read(), NOON)
    assert store().stat().st_mode & 0o777 == 0o600
    store().chmod(0o644)
    trust.revoke("backends.yaml")
    assert store().stat().st_mode & 0o777 == 0o600
    assert kept() == ["trust.json", "trust.lock"]


def test_trusting_twice_is_one_record_of_the_second_time(project):
    trust.record(read(), NOON)
    trust.record(read(), NOON.replace(hour=13))
    assert [one.record.when for one in trust.standings()] == ["2026-05-04 13:00:00Z"]


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
