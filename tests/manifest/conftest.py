"""A project whose file needs trust, and a record of trusted files of its own."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rlx.manifest import layers, records
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
