"""Lines that name a file's schema to editors: each leads to a schema, of the file's own kind."""

import json
import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from rlx import resources
from rlx.cli import app, init
from rlx.manifest.models import KINDS
from tests.examples.conftest import GIT

PROJECT = Path(__file__).parents[2]
LINE = re.compile(r"^ *# yaml-language-server: \$schema=(\S+) *$", re.MULTILINE)
MENTION = re.compile(r"yaml-language-server: \$schema")
BESIDE = re.compile(r"mkdir -p (\S+) && rlx schema (\w+) > (\S+)")
"""The documented way to write a schema next to a project."""
SHIPPED = sorted(resources.configs().rglob("*.yaml"))


def kind_of(text):
    return re.search(r"(?m)^kind: (\w+)$", text)[1].lower()


def relative(path):
    return path.relative_to(PROJECT).as_posix()


@pytest.mark.parametrize("path", SHIPPED, ids=relative)
def test_a_shipped_manifest_names_its_schema_in_its_first_line(path):
    text = path.read_text("utf-8")
    found = LINE.match(text)
    assert found, f"{relative(path)} does not begin with `# yaml-language-server: $schema=…`"
    schema = json.loads((path.parent / found[1]).read_text("utf-8"))
    assert schema["$id"] == f"urn:rlx:schema:v1:{kind_of(text)}"


def test_what_init_writes_names_a_schema_and_how_to_write_it(rlx_in, tmp_path):
    assert app.run(["init"]) == 0
    text = (tmp_path / "backends.yaml").read_text("utf-8")
    named = LINE.match(text)[1]
    folder, kind, file = BESIDE.search(text).groups()
    assert named == file
    assert PurePosixPath(folder) == PurePosixPath(file).parent
    assert kind == kind_of(text)


def test_the_documented_command_writes_the_schema(rlx_in, capsys):
    _, kind, _ = BESIDE.search(init.HEAD).groups()
    assert app.run(["schema", kind]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["$id"] == f"urn:rlx:schema:v1:{kind}"
    assert kind.capitalize() in KINDS


@pytest.fixture
def rlx_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif(GIT is None or not (PROJECT / ".git").exists(), reason="needs git's list")
def test_every_modeline_in_the_repository_leads_somewhere():
    """In whatever file it stands: to a schema that is there, or to the one that `init` names."""
    listed = subprocess.run([GIT, "ls-files"], capture_output=True, text=True, cwd=PROJECT)
    beside = BESIDE.search(init.HEAD)[3]
    seen = 0
    for name in listed.stdout.splitlines():
        path = PROJECT / name
        if path.suffix not in (".yaml", ".yml", ".md") or not path.is_file():
            continue
        if path.is_relative_to(PROJECT / "tests"):  # examples of what users may write
            continue
        for target in LINE.findall(path.read_text("utf-8")):
            seen += 1
            assert target == beside or (path.parent / target).is_file(), f"{name}: {target}"
    assert seen >= len(SHIPPED)
