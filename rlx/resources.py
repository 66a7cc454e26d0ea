"""The one place that knows where `configs/` and `schemas/` are."""

import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


@cache
def is_checkout(folder: Path) -> bool:
    """True when rlx's own `pyproject.toml` stands in the folder; a process sees no change."""
    project = folder / "pyproject.toml"
    try:
        text = project.read_text(encoding="utf-8")
    except OSError:
        return False
    return re.search(r'^name = "rlx"$', text, re.MULTILINE) is not None


def configs() -> Path:
    """The folder of the packaged manifests: the checkout's, else the wheel's copy."""
    return PACKAGE.parent / "configs" if is_checkout(PACKAGE.parent) else PACKAGE / "_configs"


def schemas() -> Path:
    """The folder of the generated JSON Schemas: the checkout's, else the wheel's copy."""
    return PACKAGE.parent / "schemas" if is_checkout(PACKAGE.parent) else PACKAGE / "_schemas"
