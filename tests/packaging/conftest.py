"""Copies of the checkout, wheels and environments to install them into."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests import tour

PROJECT = Path(__file__).parents[2]
SHIPPED = ("rlx", "configs", "schemas", "pyproject.toml", "README.md", "LICENSE")


class Environment:
    """A virtual environment, and how to run things in it away from the checkout."""

    def __init__(self, folder: Path, *, borrow: bool):
        venv.create(folder, with_pip=True)
        self.folder = folder
        self.python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        if borrow:
            self.borrow()

    def borrow(self):
        """Let it import what the tests' own environment has: no network is needed.

        rlx is not lent, and neither are engines, but for onnxruntime.
        """
        mine = sysconfig.get_path("purelib")
        (self.site / "borrowed.pth").write_text(mine + "\n", encoding="utf-8")
        (self.site / "sitecustomize.py").write_text(tour.hiding(), encoding="utf-8")

    @property
    def site(self):
        """The folder that packages are installed into."""
        site = self.output("-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
        return Path(site.strip())

    def pip(self, *arguments):
        self.output("-m", "pip", "install", "-q", "--no-warn-script-location", *map(str, arguments))

    def output(self, *arguments, cwd=None, code=0, **variables):
        clean = {
            k: v for k, v in os.environ.items() if not k.startswith(("RLX_", "PYTHON", "COV_"))
        }
        done = subprocess.run(
            [self.python, *arguments],
            capture_output=True,
            text=True,
            cwd=cwd or self.folder,
            env={**clean, **variables},
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + (done.stderr if code else "")


def copy_of_checkout(folder):
    """A copy of what the project ships."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SHIPPED:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    return folder


def wheel_of(project, folder):
    """The wheel built from a project's folder."""
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", folder, project],
        check=True,
        capture_output=True,
    )
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of what the project ships, to build from and to edit."""
    return copy_of_checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory):
    """The wheel built from the copy."""
    return wheel_of(checkout, tmp_path_factory.mktemp("wheel"))
