"""Where a distribution's package lies: found by its files, and by editable installs' own notes."""

from __future__ import annotations

import os
import re
from ast import literal_eval
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.manifest.plugins.distributions import Distribution

_MAPPING = re.compile(r"^MAPPING(?::[^=\n]*)?=[ ]*(\{.*\})[ \t]*$", re.MULTILINE)
"""setuptools' finder: a package's name, and its folder."""
_MODULE = re.compile(r"^F\.map_module\((.+), (.+)\)$", re.MULTILINE)
"""The finder of `editables`, which hatchling uses: a package's name, and its `__init__.py`."""


class Hooked(Exception):
    """The package is found by an import hook alone, which can't be asked without running it."""


def folder_of(package: str, one: Distribution) -> str | None:
    """The folder of a package, dotted where it is inside another; None: there is none.

    Where the distribution is installed comes first; then the folders that its own `.pth` files
    name, and the packages that its editable finder maps.

    Raises:
        Hooked: the distribution is editable by an import hook of another kind.
    """
    inner = package.split(".")
    hooked = False
    mapped: dict[str, str] = {}
    for folder in _candidates(one.site, inner):
        return folder
    for file, text in _notes(one):
        if file.endswith(".pth"):
            lines = [line.strip() for line in text.splitlines()]
            hooked = hooked or any(line.startswith(("import ", "import\t")) for line in lines)
            for root in _roots(lines, one.site):
                for folder in _candidates(root, inner):
                    return folder
        else:
            mapped.update(_mapped(text))
    for top, home in mapped.items():
        parts = top.split(".")
        if inner[: len(parts)] == parts:
            for folder in _candidates(home, inner[len(parts) :]):
                return folder
    if hooked and not mapped:
        raise Hooked
    return None


def _candidates(root: str, inner: list[str]) -> Iterator[str]:
    folder = os.path.join(root, *inner)  # noqa: PTH118 - text, as sys.path has it
    if os.path.isdir(folder):  # noqa: PTH112 - never raises
        yield folder


def _notes(one: Distribution) -> Iterator[tuple[str, str]]:
    """The distribution's own `.pth` files and editable finders, by its RECORD."""
    for line in one.read("RECORD").decode("utf-8", "replace").splitlines():
        file = line.rsplit(",", 2)[0].strip('"')
        if "/" in file or "\\" in file:
            continue
        if file.endswith(".pth") or (file.endswith(".py") and "editable" in file):
            try:
                data = _read(one.site, file)
            except OSError:
                continue
            yield file, data


def _read(site: str, file: str) -> str:
    from rlx.manifest.plugins.distributions import read

    return read(os.path.join(site, file)).decode("utf-8", "replace")  # noqa: PTH118 - as above


def _roots(lines: list[str], site: str) -> Iterator[str]:
    for line in lines:
        if line and "\0" not in line and not line.startswith(("#", "import ", "import\t")):
            yield os.path.join(site, line)  # noqa: PTH118 - as above


def _mapped(text: str) -> Iterator[tuple[str, str]]:
    """The packages that a finder's source maps, as it writes them down; nothing of it is run."""
    for found in _MAPPING.finditer(text):
        mapping = _literal(found[1])
        if isinstance(mapping, dict):
            for name, home in mapping.items():
                if isinstance(name, str) and isinstance(home, str):
                    yield name, home
    for found in _MODULE.finditer(text):
        name, file = _literal(found[1]), _literal(found[2])
        if isinstance(name, str) and isinstance(file, str):
            yield name, os.path.dirname(file)  # noqa: PTH120 - as above


def _literal(text: str) -> object:
    try:
        value: object = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value
