"""README's commands print what README shows, replayed in order in a copy of the checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
README = PROJECT / "README.md"
COPIED = ("rlx", "configs", "schemas", "examples", "pyproject.toml")


def blocks():
    """The `console` blocks: lists of (command, expected output)."""
    found = []
    for body in re.findall(r"^```console\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S):
        steps = re.split(r"^\$ ", body, flags=re.M)[1:]
        found += [step.partition("\n")[::2] for step in steps]
    return found


def settled(text):
    """The text without what differs from run to run: times, and blanks at line ends."""
    text = re.sub(r"\d[\d.e+]* ms", "N ms", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the checkout to edit, as after `git clone`."""
    folder = tmp_path_factory.mktemp("clone")
    for name in COPIED:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    (folder / ".git").mkdir()
    return folder


def shell(command, folder):
    setup = (
        f'rlx() {{ "{sys.executable}" -m rlx "$@"; }}; python() {{ "{sys.executable}" "$@"; }}; '
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RLX_")}
    home = str(folder / "home")
    done = subprocess.run(
        ["bash", "-c", f"{setup} {command}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={**clean, "HOME": home, "XDG_CONFIG_HOME": home, "PYTHONIOENCODING": "utf-8"},
    )
    assert "Traceback" not in done.stdout, done.stdout
    return done.stdout


@pytest.mark.skipif(os.name == "nt", reason="the tour is written for a POSIX shell")
@pytest.mark.needs("onnxruntime")
def test_the_tour_prints_what_it_shows(copy):
    steps = blocks()
    assert len(steps) >= 8
    for command, expected in steps:
        assert settled(shell(command, copy)) == settled(expected), f"after: $ {command}"


def test_readme_shows_the_two_commands_first():
    first = re.search(r"^```sh\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S).group(1)
    commands = [line.partition("#")[0].strip() for line in first.splitlines()]
    assert commands == ["make demo", "make test"]
