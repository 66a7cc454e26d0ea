"""`docs/writing-a-backend.md`: its commands, replayed where rlx is installed and nothing else is.

`python -m tests.packaging.tutorial --write` writes what they print; a test checks it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests import tour
from tests.packaging.conftest import PROJECT, Environment, copy_of_checkout, wheel_of

DOCUMENT = PROJECT / "docs" / "writing-a-backend.md"
SETUP = """
pip() {
    local verb=$1; shift
    if [ "$verb" = install ]; then set -- --no-deps --no-build-isolation --no-index "$@"; fi
    command pip --disable-pip-version-check "$verb" "$@"
}
"""
"""What a plugin depends on is there, and no index is asked for it."""


def shell(command, environment, folder):
    """What a command prints in `folder`, with the environment's rlx, python and pip."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("RLX_", "PYTHON", "COV_"))}
    home = str(folder.parent / "home")
    done = subprocess.run(
        ["bash", "-c", SETUP + re.sub(r"^> ", "", command, flags=re.MULTILINE)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={
            **keep,
            "PATH": f"{environment.python.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": home,
            "XDG_CONFIG_HOME": home,
            "PYTHONIOENCODING": "utf-8",
        },
    )
    site = str(environment.site)
    return done.stdout.replace(site, "SITE").replace(str(folder), tour.SHOWN_AS)


def prepare(folder):
    """The folder that the commands run in: only the examples of a clone are there."""
    folder.mkdir(parents=True)
    shutil.copytree(PROJECT / "examples", folder / "examples")
    return folder


def replayed(text, environment, folder):
    """The text with each command's output as it is now; the same where only times differ."""

    def fill(match):
        lines = []
        for command, expected in tour.steps(match.group(1)):
            printed = shell(command, environment, folder).rstrip()
            if tour.settled(printed) == tour.settled(expected):
                printed = expected.rstrip()
            lines += [f"$ {command}", *([printed] if printed else [])]
        return "```console\n" + "\n".join(lines) + "\n```"

    return tour.CONSOLE.sub(fill, text)


def main():
    """Write the document again."""
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        environment = Environment(made / "venv", borrow=True)
        environment.pip("--no-deps", wheel_of(copy_of_checkout(made / "checkout"), made / "wheel"))
        folder = prepare(made / "work")
        text = replayed(DOCUMENT.read_text("utf-8"), environment, folder)
    DOCUMENT.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.packaging.tutorial --write")
    main()
