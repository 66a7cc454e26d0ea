"""README's generated parts: what its commands print, and the table of variables.

`python -m tests.tour --write` writes them; `test_readme.py` checks them.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rlx.settings import VARIABLES

PROJECT = Path(__file__).parent.parent
README = PROJECT / "README.md"
COPIED = ("rlx", "configs", "schemas", "examples", "pyproject.toml")
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BEGIN, END = "<!-- variables: generated from rlx's table of variables -->\n", "<!-- end -->\n"


def clone(folder):
    """Copy what a clone has that the tour uses."""
    for name in COPIED:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    (folder / ".git").mkdir()


def steps(block):
    """A console block's (command, expected output) pairs."""
    return [step.partition("\n")[::2] for step in re.split(r"^\$ ", block, flags=re.M)[1:]]


def settled(text):
    """The text without what differs from run to run: times, and blanks at line ends."""
    text = re.sub(r"\d[\d.e+]* ms", "N ms", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def shell(command, folder):
    """What the command prints, in `folder`, with rlx from there and no settings of this process."""
    python = f'"{sys.executable}"'
    setup = f'rlx() {{ {python} -m rlx "$@"; }}; python() {{ {python} "$@"; }}; '
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RLX_")}
    home = str(folder / "home")
    clean |= {"HOME": home, "XDG_CONFIG_HOME": home, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        ["bash", "-c", setup + command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={**clean, "PYTHONIOENCODING": "utf-8"},
    )
    assert "Traceback" not in done.stdout, done.stdout
    return done.stdout


def variables():
    """The table of every variable that rlx reads."""
    lines = ["| variable | meaning | default | example |", "| --- | --- | --- | --- |"]
    for one in VARIABLES:
        example = f"`{one.name}={one.example}`"
        lines.append(f"| `{one.name}` | {one.meaning} | {one.default} | {example} |")
    return "\n".join(lines) + "\n"


def with_variables(text):
    """The text with the table between its two marks."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + variables() + END + tail


def replayed(text, folder):
    """The text with each command's output as it is now."""

    def fill(match):
        lines = []
        for command, _ in steps(match.group(1)):
            printed = shell(command, folder).rstrip()
            lines += [f"$ {command}", *([printed] if printed else [])]
        return "```console\n" + "\n".join(lines) + "\n```"

    return CONSOLE.sub(fill, text)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.tour --write")
    with tempfile.TemporaryDirectory() as name:
        clone(Path(name))
        text = replayed(with_variables(README.read_text("utf-8")), Path(name))
    README.write_text(text, encoding="utf-8", newline="\n")
