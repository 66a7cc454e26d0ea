"""The documents' generated parts: what their commands print, and README's table of variables.

Every console block of README and `docs/` is replayed in order, a document at a time, in a folder
of its own: a copy of the checkout, or an empty one where the document says so by `EMPTY`.
`python -m tests.tour --write [FILE...]` writes what is printed; `tests/docs` checks it.

The commands see what somebody sees who installed `rlx[onnxruntime]`: the other engines that are
installed here are hidden from them.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rlx.registries import Registry
from rlx.settings import VARIABLES

PROJECT = Path(__file__).parent.parent
README = PROJECT / "README.md"
COPIED = ("rlx", "configs", "schemas", "examples", "pyproject.toml")
EMPTY = "<!-- replayed in an empty folder -->"
ELSEWHERE = re.compile(r"<!-- replayed by (tests/\S+\.py) -->")
"""In a document whose console blocks need more than this: the test that replays them."""
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^\$ (.*(?:\n> .*)*)\n?", re.MULTILINE)
"""A command; its further lines, as of a text that it reads, begin with `> `."""
BEGIN, END = "<!-- variables: generated from rlx's table of variables -->\n", "<!-- end -->\n"
HIDING = """import importlib.machinery

FINDER, HIDDEN = importlib.machinery.PathFinder, %s
find = FINDER.find_spec


@classmethod
def find_spec(cls, name, *rest):
    return None if name in HIDDEN else find(name, *rest)


FINDER.find_spec = find_spec
"""
SHOWN_AS = "/home/ada/project"
"""How the folder of the replay is written where its path is printed."""


def documents():
    """README and everything in `docs/`."""
    return [README, *sorted((PROJECT / "docs").rglob("*.md"))]


def clone(folder):
    """Copy what a clone has that the tour uses."""
    for name in COPIED:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    (folder / ".git").mkdir()


def prepared(text, folder):
    """The folder in which a document's commands run."""
    if EMPTY in text:
        folder = folder / "project"
        folder.mkdir()
    else:
        clone(folder)
    return folder


def steps(block):
    """A console block's (command, expected output) pairs; a command may have several lines."""
    found = list(STEP.finditer(block))
    ends = [one.start() for one in found[1:]] + [len(block)]
    return [(one[1], block[one.end() : end]) for one, end in zip(found, ends, strict=True)]


def settled(text):
    """The text without what differs from run to run: times, and blanks at line ends."""
    text = re.sub(r"\d[\d.e+]* ms", "N ms", text)
    text = re.sub(r"\d{4}-\d\d-\d\d( |T)\d\d:\d\d(:\d\d)?", "DATE", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def unmoved(text):
    """The settled text without what each new backend and measurement moves.

    That is places in the packaged file, how many operations were measured, and the widths of
    columns, outside of excerpts of files. `--write` writes all of it nevertheless.
    """
    text = re.sub(r"(packaged backends\.yaml):\d+:\d+", r"\1", settled(text))
    text = re.sub(r"\d+ (operations, measured)", r"N \1", text)
    return "\n".join(
        line if "|" in line else re.sub(r"(?<=\S) +", " ", line) for line in text.splitlines()
    )


def environment(folder):
    """The environment without its settings; rlx is the copy where there is one."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RLX_")}
    home = str(folder / "home") if (folder / "rlx").is_dir() else f"{folder}-home"
    source = folder if (folder / "rlx").is_dir() else PROJECT
    here = _commands(Path(f"{folder}-bin"))
    names = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
    return {
        **clean,
        **dict.fromkeys(names, home),
        "PYTHONPATH": f"{source}{os.pathsep}{here / 'hidden'}",
        "PATH": f"{here}{os.pathsep}{clean['PATH']}",
        "PYTHONIOENCODING": "utf-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }


def _commands(folder):
    """A folder for the path with `rlx`, `python` and `pre-commit`, of this interpreter.

    `hidden` in it, on Python's path, hides engines.
    """
    if not folder.is_dir():
        (folder / "hidden").mkdir(parents=True)
        (folder / "hidden" / "sitecustomize.py").write_text(hiding(), "utf-8")
        for name, module in (("rlx", "-m rlx"), ("python", ""), ("pre-commit", "-m pre_commit")):
            path = folder / name
            path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n', "utf-8")
            path.chmod(0o755)
    return folder


def hiding():
    """A `sitecustomize` that hides what packaged backends look for, but for onnxruntime."""
    probes = [p for one in Registry.load(only=True).registrations for p in one.probes]
    modules = {p.values[0] for p in probes if p.kind == "module"}
    return HIDING % (sorted(modules - {"onnxruntime"}),)


def shell(command, folder):
    """What the command prints, in `folder`, with rlx from there and no settings of this process."""
    done = subprocess.run(
        ["bash", "-c", re.sub(r"^> ", "", command, flags=re.MULTILINE)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=environment(folder),
    )
    assert "Traceback" not in done.stdout, done.stdout
    return done.stdout.replace(str(folder), SHOWN_AS)


def variables():
    """The table of every variable that rlx reads."""
    lines = ["| variable | meaning | default | example |", "| --- | --- | --- | --- |"]
    for one in VARIABLES:
        example = f"`{one.name}={one.example}`"
        lines.append(f"| `{one.name}` | {one.meaning} | {one.default} | {example} |")
    return "\n".join(lines) + "\n"


def with_variables(text):
    """The text with the table between its two marks, where it has them."""
    if BEGIN not in text:
        return text
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + variables() + END + tail


def replayed(text, folder):
    """The text with each command's output as it is now; the same where only times differ."""

    def fill(match):
        lines = []
        for command, expected in steps(match.group(1)):
            printed = shell(command, folder).rstrip()
            if settled(printed) == settled(expected):
                printed = expected.rstrip()
            lines += [f"$ {command}", *([printed] if printed else [])]
        return "```console\n" + "\n".join(lines) + "\n```"

    return CONSOLE.sub(fill, text)


def write(path):
    """Replay one document and write it."""
    text = with_variables(path.read_text("utf-8"))
    if not ELSEWHERE.search(text):
        with tempfile.TemporaryDirectory() as name:
            text = replayed(text, prepared(text, Path(name).resolve()))
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit("usage: python -m tests.tour --write [FILE...]")
    for document in [Path(name) for name in sys.argv[2:]] or documents():
        write(document)
