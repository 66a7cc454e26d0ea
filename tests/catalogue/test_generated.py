"""The catalogue's files are what `python -m rlx.catalogue --write` writes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.catalogue import __main__ as generator
from rlx.catalogue import pages

PROJECT = Path(__file__).parents[2]


@pytest.mark.skipif(os.name == "nt", reason="the examples are run in forks")
@pytest.mark.needs("onnxruntime")
def test_the_generated_files_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "-m", "rlx.catalogue", "--check"],
        capture_output=True,
        text=True,
        cwd=PROJECT,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stale_file_is_named_and_written(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(generator, "ROOT", tmp_path)
    monkeypatch.setattr(generator, "generated", lambda: {"docs/codes.md": "# Codes\n"})
    assert generator.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "docs/codes.md is not up to date. Fix: run `python -m rlx.catalogue --write`.\n"
    )
    assert generator.main(["--write"]) == 0
    assert (tmp_path / "docs" / "codes.md").read_text("utf-8") == "# Codes\n"
    assert generator.main(["--check"]) == 0


def test_a_page_without_marks_is_refused():
    with pytest.raises(SystemExit, match="a page lacks the lines"):
        pages.with_decision("# How a backend is chosen\n")


def test_a_code_without_an_example_is_refused(monkeypatch):
    monkeypatch.setattr(generator.corpus, "examples", dict)
    monkeypatch.setattr(generator, "RECIPES", {})
    with pytest.raises(SystemExit) as caught:
        generator.made()
    assert str(caught.value) == (
        "no example of error code 'rlx-error'. Fix: add a manifest to tests/manifests, or a "
        "recipe to rlx/catalogue/recipes."
    )
