"""Finding a Python module and the version of its distribution, without importing either."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".dist-info", ".egg-info")
_FOLDER = re.compile(r"(?P<name>.+?)(?:-(?P<version>[^-]+)(?:-py\d[\d.]*)?)?\.(?:dist|egg)-info")


def missing(name: str, version: str | None) -> str | None:
    """Why the module `name` can't be used, at a version in the PEP 440 set `version`; or None."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError) as error:
        return f"module {name} cannot be looked up: {type(error).__name__}: {error}"
    if spec is None:
        return f"{name} is not installed"
    if version is not None:
        return _unfit(name, version)
    folders = spec.submodule_search_locations
    if spec.origin is None and folders is not None and distribution(name) is None:
        # A namespace package has no __init__.py either, but then a distribution owns it.
        folder = next(iter(folders), "?")
        return f"{name} is not installed: {folder} is a folder without __init__.py"
    return None


def _unfit(name: str, wanted: str) -> str | None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    found = distribution(name)
    if found is None:
        return f"module {name} has no distribution metadata, so it is not known to be {wanted}"
    try:
        # A pre-release or a local build of a fitting version is what is installed here: it counts.
        fits = SpecifierSet(wanted).contains(Version(found[1]), prereleases=True)
    except InvalidSpecifier:
        return f"{wanted!r} is not a PEP 440 version specifier"
    except InvalidVersion:
        return f"{found[0]} {found[1]} is not a PEP 440 version, so it is not known to be {wanted}"
    return None if fits else f"{found[0]} {found[1]} is installed, {wanted} is needed"


def distribution(module: str) -> tuple[str, str] | None:
    """The (name, version) of the distribution that provides a top-level module.

    What `importlib.metadata.packages_distributions` answers, for one module, in a hundredth of
    the time of importing it: on each path entry, distributions of the module's own name first.
    """
    for entry in sys.path:
        folder = Path(entry or ".")
        try:
            names = [one for one in os.listdir(folder) if one.endswith(SUFFIXES)]  # noqa: PTH208
        except OSError:
            continue
        for name in sorted(names, key=lambda one: _distance(one, module)):
            if _provides(folder / name, module):
                return _identity(folder / name)
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _named(info: str) -> str:
    match = _FOLDER.fullmatch(info)
    return _normal(match["name"]) if match else ""


def _distance(info: str, module: str) -> tuple[int, str]:
    """Sorts the folder `info` by how likely it provides `module`, then by name."""
    name, wanted = _named(info), _normal(module)
    return (0 if name == wanted else 1 if name.startswith(wanted) else 2, info)


def _provides(info: Path, module: str) -> bool:
    """True when the metadata lists the module; its own name does where nothing is listed."""
    listed = False
    for text in filter(None, (_read(info / "top_level.txt"), _read(info / "RECORD"))):
        listed = True
        if any(_top(line) == module for line in text.splitlines()):
            return True
    own = _named(info.name) == _normal(module)
    return own and (not listed or _editable(info))


def _editable(info: Path) -> bool:
    """An editable install records its finder, not the modules it finds."""
    return '"editable": true' in _read(info / "direct_url.json") or info.suffix == ".egg-info"


def _top(line: str) -> str:
    """The top-level module that a line of RECORD or top_level.txt speaks of."""
    first = line.split(",", 1)[0].strip().strip('"').replace("\\", "/")
    head, slash, _ = first.partition("/")
    return head if slash else head.split(".", 1)[0]


def _identity(info: Path) -> tuple[str, str]:
    match = _FOLDER.fullmatch(info.name)
    name, version = (match["name"], match["version"] or "") if match else (info.name, "")
    for line in _headers(info):
        key, _, value = line.partition(":")
        if key.lower() == "name":
            name = value.strip()
        elif key.lower() == "version":
            version = value.strip()
    return name, version


def _headers(info: Path) -> Iterator[str]:
    text = _read(info / "METADATA") or _read(info / "PKG-INFO") or _read(info)
    for line in text.splitlines():
        if not line:
            return
        yield line


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
