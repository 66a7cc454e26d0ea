"""What README and `docs/` show is what happens: commands print it, manifests load, Python runs."""

import os
import re
import subprocess
import sys

import pytest
import yaml

from rlx.cli import app
from rlx.session import default
from tests import tour

DOCUMENTS = [path for path in tour.documents() if path.name != "codes.md"]
"""The catalogue's examples are broken on purpose, and are made by running them."""
POSIX = pytest.mark.skipif(os.name == "nt", reason="the documents are for a POSIX shell")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"console", "yaml", "python", "sh", "text", "json", "toml", "markdown"}


def name_of(path):
    return path.relative_to(tour.PROJECT).as_posix()


def blocks(path, language):
    return [text for kind, text in BLOCK.findall(path.read_text("utf-8")) if kind == language]


def replayed_here():
    cases = []
    for path in DOCUMENTS:
        text = path.read_text("utf-8")
        if tour.CONSOLE.search(text) and not tour.ELSEWHERE.search(text):
            marks = [pytest.mark.needs("pre_commit")] if "$ pre-commit" in text else []
            cases.append(pytest.param(path, marks=marks, id=name_of(path)))
    return cases


def each(language):
    cases = []
    for path in DOCUMENTS:
        if not tour.ELSEWHERE.search(path.read_text("utf-8")):
            for number, text in enumerate(blocks(path, language), 1):
                cases.append(pytest.param(text, id=f"{name_of(path)}-{number}"))
    return cases


@POSIX
@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize("path", replayed_here())
def test_the_commands_print_what_is_shown(path, tmp_path):
    text = path.read_text("utf-8")
    folder = tour.prepared(text, tmp_path)
    steps = [step for block in tour.CONSOLE.findall(text) for step in tour.steps(block)]
    assert steps
    for command, expected in steps:
        printed = tour.unmoved(tour.shell(command, folder))
        assert printed == tour.unmoved(expected), f"after: $ {command}"


@pytest.mark.parametrize("text", each("yaml"))
def test_a_manifest_that_is_shown_is_valid(text, tmp_path, monkeypatch, capsys):
    tree = yaml.safe_load(text)
    if not isinstance(tree, dict) or "apiVersion" not in tree:
        return  # another tool's file, or a part: that it is YAML is all that can be said
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shown.yaml").write_text(text, encoding="utf-8")
    default.forget()
    assert app.run(["validate", "shown.yaml"]) == 0, capsys.readouterr().out


@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize("text", each("python"))
def test_python_that_is_shown_runs(text, tmp_path):
    tour.clone(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=tour.environment(tmp_path),
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_block_says_what_it_holds(path):
    text = path.read_text("utf-8")
    fences = re.findall(r"^```(\w*)$", text, re.MULTILINE)
    assert set(fences[::2]) <= LANGUAGES
    assert set(fences[1::2]) <= {""}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_a_test_that_is_said_to_replay_a_document_exists_and_names_it(path):
    for test in tour.ELSEWHERE.findall(path.read_text("utf-8")):
        assert (tour.PROJECT / test).is_file()
        beside = (tour.PROJECT / test).parent.glob("*.py")
        assert any(path.name in one.read_text("utf-8") for one in beside)


@pytest.mark.parametrize("path", tour.documents(), ids=name_of)
def test_links_between_documents_lead_somewhere(path):
    text = path.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{name_of(path)} links to {target}"


def test_the_index_links_every_document():
    docs = tour.PROJECT / "docs"
    index = (docs / "index.md").read_text("utf-8")
    for path in docs.rglob("*.md"):
        if path.name != "index.md":
            assert f"({path.relative_to(docs).as_posix()})" in index


def test_a_command_of_several_lines_is_one_step():
    block = "$ cat > a <<'E'\n> x: 1\n> E\n$ cat a\nx: 1\n"
    assert tour.steps(block) == [("cat > a <<'E'\n> x: 1\n> E", ""), ("cat a", "x: 1\n")]
