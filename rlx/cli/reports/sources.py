"""The files behind the places of faults: their lines, and their paths from the repository's top."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rlx import resources
from rlx.errors import ConfigError, printable
from rlx.manifest.discovery import FILE
from rlx.manifest.faults import Faults
from rlx.manifest.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rlx.origin import Origin

_BREAK = re.compile("\r\n|\r|\n")
_TOKEN = re.compile(
    r"""'(?:[^']++|'')*+'|"(?:[^"\\]++|\\.)*+"|[^\s,:\[\]{}]++(?::[^\s,:\[\]{}]++)*+"""
)
"""Possessive: a MiB of quoted text takes no room for ways back."""
_PACKAGED = f"packaged {FILE}"
_REPOSITORY = ".git"


class Sources:
    """Finds files by the names that messages give them, and reads each once, when asked."""

    def __init__(
        self,
        names: Iterable[str],
        texts: Mapping[str, bytes],
        installed: Mapping[str, Path] | None = None,
    ):
        """`names` are the files that the user named, `texts` what was checked without a file.

        `installed` are the files that messages do not call by a path.
        """
        self._files = {_PACKAGED: resources.configs() / FILE, **(installed or {})}
        self._files |= {printable(name): Path(name) for name in names if name not in self._files}
        self._lines: dict[str, list[str]] = {
            printable(name): _split(data) for name, data in texts.items()
        }
        self._root: Path | None = None

    def line(self, place: Origin) -> str | None:
        """The line of a place, as parsing saw it; a byte that is no UTF-8 is a half surrogate.

        None where the place has no line, or the file can't be read any more.
        """
        if not place.line:
            return None
        if place.path not in self._lines:
            self._lines[place.path] = self._read(place.path)
        lines = self._lines[place.path]
        return lines[place.line - 1] if place.line <= len(lines) else None

    def end(self, place: Origin) -> int:
        """The column after the word, or the quoted text, that stands at a place."""
        line = self.line(place) or ""
        found = _TOKEN.match(line, place.column - 1)
        return found.end() + 1 if found else place.column + 1

    def _read(self, shown: str) -> list[str]:
        try:
            return _split(read_bytes(self.file(shown), Faults(shown)))
        except ConfigError:  # the fault itself says so
            return []

    def file(self, shown: str) -> Path:
        """The file that a message names; a coverage file is named like the file it belongs to."""
        if shown in self._files:
            return self._files[shown]
        for name, path in self._files.items():
            prefix = name.removesuffix(printable(path.name))
            if prefix and shown.startswith(prefix):
                return path.parent / shown.removeprefix(prefix)
        return Path(shown)

    def from_root(self, shown: str) -> str | None:
        """The file's path from the top of the repository, with `/`; None where it is not in it.

        The top is the nearest folder above the working folder that holds `.git`, else the working
        folder.
        """
        try:
            if self._root is None:
                self._root = _top(Path.cwd())
            path = Path(os.path.abspath(self.file(shown)))  # noqa: PTH100 - links in it stay
        except (OSError, ValueError):  # the working folder was removed; a NUL
            return None
        return path.relative_to(self._root).as_posix() if self._root in path.parents else None


def _top(folder: Path) -> Path:
    return next((one for one in (folder, *folder.parents) if (one / _REPOSITORY).exists()), folder)


def _split(data: bytes) -> list[str]:
    return _BREAK.split(data.decode("utf-8-sig", "surrogateescape"))
