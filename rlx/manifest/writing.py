"""Replacing a file as a whole: readers see the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import NoReturn

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def replace(path: str | os.PathLike[str], data: bytes, *, mode: int | None = None) -> None:
    """Put the bytes in the place of the file that `path` leads to, or of nothing.

    Nothing but a plain file is replaced. A link stays, and the file that it leads to is replaced.
    The file's permissions and, where the system allows it, its owner stay; a new file has `mode`,
    by default what the umask leaves.

    Raises:
        OSError: it can't be written, and is as it was; the error names `path`.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        try:
            old = target.stat()
        except FileNotFoundError:
            old = None
        if old is not None and not stat.S_ISREG(old.st_mode):
            _refuse(old, target)
        descriptor = os.open(temporary, _FLAGS, 0o666 if mode is None else mode)
        with open(descriptor, "wb") as file:  # noqa: PTH123
            file.write(data)
            file.flush()
            if old is not None:
                _keep(temporary, old, mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)  # noqa: PTH105 - the pair of the lines around it
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _refuse(old: os.stat_result, target: Path) -> NoReturn:
    """A device, a pipe or a socket is no file to replace: root would take it from the system."""
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(target))
    raise OSError(errno.EINVAL, "it is a device, a pipe or a socket, not a file", os.fspath(target))


def _keep(temporary: Path, old: os.stat_result, mode: int | None) -> None:
    """The permissions of the old file, and its owner, which only root can give away."""
    if hasattr(os, "chown"):
        new = temporary.stat()
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with contextlib.suppress(OSError):
                os.chown(temporary, old.st_uid, old.st_gid)
    temporary.chmod(stat.S_IMODE(old.st_mode) if mode is None else mode)
