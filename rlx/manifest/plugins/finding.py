"""From a distribution to a plugin: the manifests that it names, or why they can't be read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from rlx.errors import Fault, printable
from rlx.manifest.discovery import FILE, LayerPath
from rlx.manifest.plugins.distributions import FILE as POINTS
from rlx.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.manifest.plugins.distributions import Distribution

GROUP = "rlx.manifests"
LAYER = "plugin"
FIX = "report this to the plugin's author, or uninstall it."
_VALUE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:[ \t]*:[ \t]*(.*))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Plugin:
    """One distribution that names manifests; nothing of it takes part where it has faults."""

    name: str
    version: str
    files: tuple[LayerPath, ...] = ()
    faults: tuple[Fault, ...] = ()
    points: Path | None = None
    """The file of its entry points, which faults call by its label."""

    @property
    def active(self) -> bool:
        """True when its manifests take part."""
        return not self.faults

    def __str__(self) -> str:
        return _label(self.name, self.version)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry point of rlx's group, or a line that was meant as one."""

    value: str
    line: int
    column: int
    group: str = GROUP


def plugin(one: Distribution, stray: bool) -> Plugin | None:
    """The plugin that a distribution is; None: its entry points are for others."""
    try:
        text = one.data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _broken(one, "plugin-entry", f"it is not UTF-8 (byte {error.start})", FIX)
    if one.unreadable is not None:
        message = f"it can't be read ({printable(one.unreadable)}), so plugins in it stay unknown"
        return _broken(one, "file-unreadable", message, "correct its permissions, or reinstall it.")
    entries = list(dict.fromkeys(_entries(text)))
    if not entries:
        return None
    if stray:
        message = "it lies in the working directory, from where no plugin is loaded"
        return _broken(one, "plugin-place", message, "install it: `pip install .` in its project.")
    if one.twins:
        names = ", ".join(map(printable, (one.info, *one.twins)))
        message = f"{one.name} is installed twice in {printable(one.site)}: {names}"
        fix = f"run `pip uninstall {one.name}` until it is gone, then install it again."
        return _broken(one, "plugin-place", message, fix)
    return _located(one, entries)


def _broken(one: Distribution, code: str, message: str, fix: str) -> Plugin:
    version = printable(one.version)
    name = printable(one.name)
    origin = Origin(f"{_label(name, version)} {POINTS}", layer=LAYER)
    return Plugin(name, version, (), (Fault(code, message, fix, origin),), _points(one))


def _entries(text: str) -> Iterator[_Entry]:
    """The lines of rlx's group, and of groups that are named as if they were it."""
    group = ""
    for number, line in enumerate(text.splitlines(), 1):
        written = line.strip()
        if not written or written.startswith(("#", ";")):
            continue
        if written.startswith("[") and written.endswith("]"):
            group = written[1:-1].strip()
        elif group == GROUP:
            value = written.partition("=")[2].strip() or written
            yield _Entry(value, number, line.rfind(value) + 1)
        elif re.fullmatch(r"rlx[._-]?(?:manifests?|plugins?|backends?)", group, re.IGNORECASE):
            yield _Entry(written, number, 1, group)


def _located(one: Distribution, entries: list[_Entry]) -> Plugin:
    name, version = printable(one.name), printable(one.version)
    label = _label(name, version)
    faults: list[Fault] = []
    files: dict[Path, tuple[str, str]] = {}
    for entry in entries:
        at = Origin(f"{label} {POINTS}", entry.line, entry.column, LAYER)
        try:
            path, top, inner = _file(entry, one)
        except _Misplaced as error:
            faults.append(Fault(error.code, error.message, error.fix, at))
        else:
            files.setdefault(path, (top, inner))
    names = [inner for _, inner in files.values()]
    layers = tuple(
        LayerPath(LAYER, path, printable(f"{label} {_shown(top, inner, names)}"))
        for path, (top, inner) in files.items()
    )
    return Plugin(name, version, layers, tuple(faults), _points(one))


def _points(one: Distribution) -> Path:
    return Path(one.site, one.info, POINTS)


def _label(name: str, version: str) -> str:
    return f"plugin {name} {version}" if version else f"plugin {name}"


def _shown(top: str, inner: str, names: list[str]) -> str:
    """A file by its path in its top-level package; with the package where that is not enough."""
    return inner if names.count(inner) == 1 else f"{top}/{inner}"


class _Misplaced(Exception):
    def __init__(self, code: str, message: str, fix: str):
        self.code, self.message, self.fix = code, message, fix
        super().__init__(message)


def _file(entry: _Entry, one: Distribution) -> tuple[Path, str, str]:
    """The file that an entry point names, its top-level package, and its path in that."""
    if entry.group != GROUP:
        message = f"the group of entry points is {GROUP}, got {_quoted(entry.group)}"
        fix = f"rename the group to {GROUP}, and build again."
        raise _Misplaced("plugin-entry", message, fix)
    match = _VALUE.fullmatch(entry.value)
    if match is None:
        message = f"an entry point must be package or package:file.yaml, got {_quoted(entry.value)}"
        raise _Misplaced("plugin-entry", message, FIX)
    package, written = match[1], FILE if match[2] is None else match[2]
    folder = _folder(package, one)
    pure = PurePosixPath(written)
    rooted = pure.is_absolute() or PureWindowsPath(written).drive
    if rooted or ".." in pure.parts or "\\" in written or "\0" in written or not pure.parts:
        message = f"the file must be a path below package {package}, got {_quoted(written)}"
        raise _Misplaced("plugin-file", message, FIX)
    path = folder / pure
    if not os.path.lexists(path):
        message = f"package {package} holds no {_quoted(written)}"
        fix = "add the file to the package's data, and build it again."
        raise _Misplaced("file-missing", message, fix)
    if not _is_within(path, folder):
        message = f"a link leads {_quoted(written)} out of package {package}"
        raise _Misplaced("plugin-file", message, "install the file itself there, not a link.")
    top, _, rest = package.partition(".")
    return path, top, "/".join((*filter(None, rest.split(".")), *pure.parts))


def _folder(package: str, one: Distribution) -> Path:
    from rlx.manifest.plugins import places

    try:
        folder = places.folder_of(package, one)
    except places.Hooked:
        raise _Misplaced(
            "plugin-place",
            f"package {package} is installed so that only an import hook finds it, and rlx "
            "imports no plugin to read its manifest",
            "install it without -e, or name its file in RLX_CONFIG.",
        ) from None
    if folder is None:
        message = f"no package {package} is installed with it, in {printable(one.site)}"
        raise _Misplaced("plugin-place", message, FIX)
    return Path(folder)


def _is_within(path: Path, folder: Path) -> bool:
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except (OSError, ValueError):
        return False


def _quoted(text: str) -> str:
    return f"'{printable(text if len(text) <= 60 else text[:59] + '…')}'"
