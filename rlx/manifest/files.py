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


def read_bytes(path: Path, faults: Faults) -> bytes:
    """The file's bytes; of a file that is too large, one more than is allowed.

    Raises:
        ConfigError: the file is missing, is not a plain file, or cannot be read.
    """
    try:
        kind = _special(path.stat().st_mode)
        if kind is None:
            with open(os.open(path, _FLAGS), "rb") as file:  # noqa: PTH123 - no waiting for a pipe
                kind = _special(os.fstat(file.fileno()).st_mode)
                if kind is None:
                    return file.read(MAX_BYTES + 1)
        message = f"a manifest must be a plain file, got {kind}"
        faults.add("file-not-regular", message, "name a plain YAML file.")
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


def _special(mode: int) -> str | None:
    """What a file is that is not a plain one."""
    if stat.S_ISREG(mode):
        return None
    return next((name for test, name in _KINDS if test(mode)), "a special file")
