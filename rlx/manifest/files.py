"""Reading a manifest's bytes: plain files only, at most 1 MiB, and never waiting for a pipe."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from rlx.errors import printable
from rlx.manifest.text import MAX_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from rlx.manifest.faults import Faults

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_PLAIN = "name a plain YAML file."


def read_bytes(path: Path, faults: Faults) -> bytes:
    """The file's bytes; of a file that is too large, one more than is allowed.

    Raises:
        ConfigError: the file is missing, is not a plain file, or cannot be read.
    """
    try:
        _require_plain(path.stat().st_mode, faults)
        descriptor = os.open(path, _FLAGS)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - the descriptor is open already
            _require_plain(os.fstat(descriptor).st_mode, faults)
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        dangling = path.is_symlink()
        message = "the link leads to no file" if dangling else "the file is not there"
        fix = "correct the link, or remove it." if dangling else "correct the path."
        faults.add("file-missing", message, fix)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        message = f"the file can't be read: {printable(reason)}"
        faults.add("file-unreadable", message, "check the path and its permissions.")
    return faults.stop()


def _require_plain(mode: int, faults: Faults) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((name for test, name in _KINDS if test(mode)), "a special file")
    faults.add("file-not-regular", f"a manifest must be a plain file, got {kind}", _PLAIN)
    faults.stop()
