"""Installed distributions that may be plugins: what each one's `entry_points.txt` says, as bytes.

`importlib.metadata.entry_points` answers the same, but takes some thirty milliseconds in a fresh
process. The rules are its own: the first distribution of a name on the path counts.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FILE = "entry_points.txt"
_SUFFIXES = (".dist-info", ".egg-info")
_SITE = ("site-packages", "dist-packages")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LARGEST = 1 << 20
_MARK = b"[rlx"
"""Begins the sections that may be rlx's."""
_VERSION = b"version:"


class Distribution:
    """One installed distribution whose entry points speak of rlx, or can't be read.

    A plain class, and no regular expressions here: a dataclass takes longer to make than all that
    is read.
    """

    __slots__ = ("data", "info", "name", "site", "twins", "unreadable")

    def __init__(self, name: str, site: str, info: str, data: bytes, unreadable: str | None):
        self.name = name
        """Normalised: lower case, words joined by '-'."""
        self.site = site
        """The folder that it is installed in."""
        self.info = info
        """Its metadata folder, by its name there."""
        self.data = data
        """What its `entry_points.txt` holds."""
        self.unreadable = unreadable
        """Why that file can't be read."""
        self.twins: tuple[str, ...] = ()
        """Metadata folders of the same distribution beside this one."""

    @property
    def version(self) -> str:
        """As the metadata says; "" where it says nothing."""
        _, _, version = _stem(self.info).partition("-")
        if version:
            return version.partition("-")[0]
        for file in ("METADATA", "PKG-INFO"):
            for line in self.read(file).splitlines():
                if line.lower().startswith(_VERSION):
                    return line[len(_VERSION) :].decode("ascii", "replace").strip()
        return ""

    def read(self, file: str) -> bytes:
        """One file of the metadata; nothing where it can't be read."""
        try:
            return read(os.path.join(self.site, self.info, file))  # noqa: PTH118 - hundreds of files
        except OSError:
            return b""


def distributions(path: Sequence[str]) -> Iterator[tuple[Distribution, bool]]:
    """Every distribution on the path whose entry points mention rlx, each name once.

    With each goes whether it is a stray: it lies in the working directory, which is on the path
    only because Python puts it there; nobody is trusted for a folder that was entered.
    """
    seen: set[str] = set()
    here = _working_directory()
    ordered = [entry for entry in path if not _is_stray(entry, here)]
    strays = [here] if here is not None and len(ordered) < len(path) else []
    for entry in dict.fromkeys((*ordered, *strays)):
        for name, found in _installed(entry):
            if name not in seen and found is not None:
                yield found, entry in strays
            seen.add(name)


_kept: dict[str, tuple[int, tuple[tuple[str, Distribution | None], ...]]] = {}
"""By folder: when it last changed, and what was found in it then."""
_SETTLED = 60.0
"""Seconds after which a folder's installations are taken to be complete."""


def _installed(folder: str) -> tuple[tuple[str, Distribution | None], ...]:
    """The name of each distribution in a folder, with what is worth knowing about it.

    Installing, upgrading and removing change the folder's time. While that stays the same, one
    call to the system answers: a reload among busy threads waits at each.
    """
    try:
        changed = os.stat(folder).st_mtime_ns  # noqa: PTH116 - text, as sys.path has it
    except (OSError, ValueError):
        return ()
    kept = _kept.get(folder)
    if kept is not None and kept[0] == changed:
        return kept[1]
    groups: dict[str, list[str]] = {}
    for info in _infos(folder):
        groups.setdefault(_name(info), []).append(info)
    found = tuple((name, _first(name, folder, infos)) for name, infos in groups.items())
    if time.time() - changed / 1e9 > _SETTLED:
        _kept[folder] = (changed, found)
    return found


def _first(name: str, site: str, infos: list[str]) -> Distribution | None:
    for info in infos:
        made = _distribution(name, site, info)
        if made is not None:
            made.twins = tuple(one for one in infos if one != info)
            return made
    return None


def _distribution(name: str, site: str, info: str) -> Distribution | None:
    try:
        data = read(f"{site}{os.sep}{info}{os.sep}{FILE}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Distribution(name, site, info, b"", error.strerror or "error")
    return Distribution(name, site, info, data, None) if _MARK in data else None


def _infos(folder: str) -> list[str]:
    """The metadata folders in a folder of the path; none where it can't be listed, as in a zip.

    A distribution's name begins with a letter or digit. What begins otherwise is no installation:
    `~oo-1.0.dist-info` is what pip could not remove of one, and pip ignores it too.
    """
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are enough, of hundreds of folders
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(_SUFFIXES) and name[0].isalnum())


def read(path: str) -> bytes:
    """A file's first MiB, never waiting for a pipe."""
    handle = os.open(path, _FLAGS)
    try:
        return os.read(handle, _LARGEST)
    finally:
        os.close(handle)


def _stem(info: str) -> str:
    return info.rpartition(".")[0]


def _name(info: str) -> str:
    """The normalised name: runs of '-', '_' and '.' are one '-'."""
    words = _stem(info).partition("-")[0].lower().replace("_", "-").replace(".", "-").split("-")
    return "-".join(filter(None, words))


def _working_directory() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - sys.path holds text
    except OSError:
        return None


def _is_stray(entry: str, here: str | None) -> bool:
    """True for the working directory, unless it is a folder that pip installs into."""
    if entry == "" or entry == ".":
        return True
    return entry == here and os.path.basename(entry) not in _SITE  # noqa: PTH119 - as above
