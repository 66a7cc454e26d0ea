"""A scratch repository of a team that uses rlx, and the programs that CI has there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
GIT = shutil.which("git")
HEAD = "apiVersion: rlx/v1\nkind: Backends\n"


class Repository:
    """A folder under git, and a PATH on which `rlx`, and stand-ins for what CI has, are found."""

    def __init__(self, folder, programs):
        self.folder = folder
        self.programs = programs
        home = folder.parent / "home"
        home.mkdir()
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("RLX_", "GIT_"))}
        self.environment = clean | {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "PRE_COMMIT_HOME": str(home / "pre-commit"),
            "PYTHONPATH": str(PROJECT),
            "PATH": f"{programs}{os.pathsep}{clean['PATH']}",
        }
        (home / "gitconfig").write_text(
            "[user]\nname = a\nemail = a@b.invalid\n[init]\ndefaultBranch = main\n"
            '[protocol "file"]\nallow = always\n',
            encoding="utf-8",
        )
        self.program("rlx", f'exec "{sys.executable}" -m rlx "$@"')
        self.program("python", f'exec "{sys.executable}" "$@"')
        self.git("init", "-q")

    def program(self, name, body):
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *command, **variables):
        """Exit code and all that is printed."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        return done.returncode, done.stdout

    def git(self, *arguments):
        code, out = self.run("git", *arguments)
        assert code == 0, out
        return out.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path):
    if GIT is None or os.name == "nt":
        pytest.skip("needs git and a POSIX shell")
    for name in ("team", "programs"):
        (tmp_path / name).mkdir()
    return Repository(tmp_path / "team", tmp_path / "programs")
