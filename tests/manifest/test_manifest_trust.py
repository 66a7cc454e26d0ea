"""Trust in a project's file: the bytes that were recorded, by real path, and nothing else."""

import contextlib
from pathlib import Path

import pytest

from rlx.errors import ConfigError
from rlx.manifest import trust
from tests.manifest.conftest import BODY, COVERAGE, NOON, ON, kept, read, standing, store


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
