"""The packaged layer that the examples run with: three backends, whatever else rlx ships.

An example is about its code. What it prints would change with each backend that rlx gains, and
with the engines that are installed, if it ran with all of them.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rlx import resources
from rlx.freeze.__main__ import generated

if TYPE_CHECKING:
    from collections.abc import Iterator

MANIFEST = resources.PACKAGE.parent / "tests" / "three_backends.yaml"
IDS = ("onnxruntime-cpu", "numpy", "reference")
"""Its backends, in the order in which they are tried; their coverage is what rlx ships."""


def write(folder: Path) -> None:
    """Fill an empty folder so that `resources.configs` may name it: compiled, as rlx's own is."""
    shipped = resources.configs()
    for path in shipped.glob("*.yaml"):
        shutil.copy(path, folder)
    shutil.copy(MANIFEST, folder / "backends.yaml")
    (folder / "coverage").mkdir()
    for name in IDS:
        shutil.copy(shipped / "coverage" / f"{name}.yaml", folder / "coverage")
    with in_force(folder):
        for name, data in generated(folder).items():
            (folder / name).write_bytes(data)


@contextmanager
def in_force(folder: Path) -> Iterator[None]:
    """In the block the folder is what rlx ships, in this process."""
    shipped = resources.configs
    resources.configs = lambda: folder
    try:
        yield
    finally:
        resources.configs = shipped


def folder() -> Path:
    """The layer's folder, made once; it is gone when the process ends."""
    return Path(_made().name)


@cache
def _made() -> TemporaryDirectory[str]:
    made = TemporaryDirectory()
    write(Path(made.name).resolve())
    return made
