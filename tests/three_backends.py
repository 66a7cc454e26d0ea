"""A packaged layer of three backends, for tests whose subject is not which ones rlx ships."""

import shutil
from pathlib import Path

from rlx import resources
from rlx.freeze.__main__ import main as freeze
from rlx.registries import Registry

MANIFEST = Path(__file__).with_suffix(".yaml")
IDS = ("onnxruntime-cpu", "numpy", "reference")
"""Its backends, in the order in which they are tried."""


def packaged_in(folder):
    """Fill a folder for `resources.configs` with the three backends, and what else rlx ships."""
    for path in resources.configs().iterdir():
        if path.is_file() and path.suffix == ".yaml":
            shutil.copy(path, folder)
    shutil.copy(MANIFEST, folder / "backends.yaml")
    (folder / "coverage").mkdir()
    for name in IDS:
        shutil.copy(resources.configs() / "coverage" / f"{name}.yaml", folder / "coverage")
    return folder


def compiled(folder, monkeypatch):
    """Compile the folder's layer, as rlx's own is; it is in force while `monkeypatch` lasts."""
    monkeypatch.setattr(resources, "configs", lambda: folder)
    assert freeze(["--write"]) == 0


def place(backend, key):
    """Where the packaged layer in force writes a key of a backend."""
    return str(Registry.load(only=True).get(backend).source(key))
