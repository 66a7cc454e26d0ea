"""Opening a file that somebody named: plain files only, without waiting for a pipe."""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from typing import BinaryIO

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotPlain(OSError):
    """It is there, and is no plain file; `kind` says what it is: `a pipe`."""

    def __init__(self, path: str, kind: str):
        super().__init__(errno.EINVAL, f"it is {kind}, not a file", path)
        self.kind = kind


def open_plain(path: str | os.PathLike[str]) -> BinaryIO:
    """A plain file, open for reading; a link to one is followed.

    Anything else is not even opened: opening a pipe may wait for ever, and opening a device may
    do something.

    Raises:
        NotPlain: it is a folder, a pipe, a device or a socket.
        OSError: it is not there, or can't be opened.
        ValueError: the path holds a NUL.
    """
    _check(path, os.stat(path).st_mode)  # noqa: PTH116 - a path may be text
    descriptor = os.open(path, _FLAGS)
    try:
        _check(path, os.fstat(descriptor).st_mode)  # it may have been exchanged meanwhile
    except BaseException:
        os.close(descriptor)
        raise
    return open(descriptor, "rb")  # noqa: PTH123 - the caller closes it


def _check(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for test, name in _KINDS if test(mode)), "something special")
        raise NotPlain(os.fsdecode(path), kind)
