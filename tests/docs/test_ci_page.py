"""`docs/ci.md` is what happens: its commands are run in order in a team's repository.

`python -m tests.docs.test_ci_page` writes what they print now.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

from tests import tour
from tests.examples.conftest import GIT, HEAD, PROJECT, Repository

PAGE = PROJECT / "docs" / "ci.md"
POSIX = pytest.mark.skipif(GIT is None or os.name == "nt", reason="needs git and a POSIX shell")


def prepared(folder):
    """A repository of a team with one program and a manifest that has a mistake."""
    for name in ("team", "programs"):
        (folder / name).mkdir()
    made = Repository(folder / "team", folder / "programs")
    for name, module in (("pre-commit", "pre_commit"), ("check-jsonschema", "check_jsonschema")):
        made.program(name, f'exec "{sys.executable}" -m {module} "$@"')
    made.write("models/mlp.onnxtxt", (PROJECT / "examples/mlp.onnxtxt").read_text("utf-8"))
    made.write("teams/vision/backends.yaml", f"{HEAD}overrides:\n  - {{id: numpy, rnak: 5}}\n")
    made.write("teams/speech/backends.yaml", f"{HEAD}routing: {{device: cpu}}\n")
    made.git("add", "-A")
    return made


def printed(repository, command):
    script = re.sub(r"^> ", "", command, flags=re.MULTILINE)
    return repository.run("bash", "-c", script)[1].rstrip()


def filled(text, repository):
    """The page with what its commands print now."""

    def fill(match):
        lines = []
        for command, _ in tour.steps(match[1]):
            out = printed(repository, command)
            lines += [f"$ {command}", *([out] if out else [])]
        return "```console\n" + "\n".join(lines) + "\n```"

    return tour.CONSOLE.sub(fill, text)


@POSIX
@pytest.mark.needs("onnxruntime")
def test_the_commands_of_the_page_print_what_it_shows(tmp_path):
    repository = prepared(tmp_path)
    steps = [s for b in tour.CONSOLE.findall(PAGE.read_text("utf-8")) for s in tour.steps(b)]
    assert len(steps) >= 15
    for command, expected in steps:
        out = printed(repository, command)
        assert tour.settled(out) == tour.settled(expected), f"after: $ {command}"


def test_the_page_shows_the_example_of_the_hook():
    example = (PROJECT / "examples" / "ci" / "pre-commit-config.yaml").read_text("utf-8")
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    without = "".join(
        re.sub(r" +#.*", "", line)
        for line in example.splitlines(keepends=True)
        if not line.startswith("#")
    )
    assert shown == without


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        text = filled(PAGE.read_text("utf-8"), prepared(Path(name).resolve()))
    PAGE.write_text(text, encoding="utf-8", newline="\n")
