"""Where trust is recorded: one JSON file in the user's state folder, replaced as a whole."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.errors import TrustError, printable
from rlx.files import NotPlain, open_plain
from rlx.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1
MAX_BYTES = 1 << 24
_DELETE = "delete that file, then trust again what you still trust."
_NAME = "name the file each time instead: RLX_CONFIG=FILE, or --config FILE."
_within = threading.Lock()


@dataclass(frozen=True, slots=True)
class Record:
    """One file that the user trusts, as it was when it was trusted."""

    path: str
    """Absolute, and without links."""
    folder: str
    """Where the files that it refers to stand: beside the path by which it was read."""
    when: str
    """In UTC."""
    digest: str
    """SHA-256 of the file, in hexadecimal."""
    references: tuple[tuple[str, str], ...] = ()
    """The same of every file that it refers to, by the path as it is written there."""


def store() -> Path:
    """The file that holds the records; it need not be there.

    Where the user has no home, the path is not absolute, and nothing is read from it: else a
    project could bring a record of its own along.
    """
    import platformdirs

    return Path(platformdirs.user_state_dir("rlx", appauthor=False), "trust.json")


def read() -> dict[str, Record]:
    """Every record, by its path; none where nothing was ever trusted.

    Raises:
        TrustError: the file can't be read, or does not hold what rlx writes there.
    """
    path = store()
    if not path.is_absolute():
        return {}
    try:
        data = _bytes(path)
    except FileNotFoundError:
        return {}
    except NotADirectoryError:  # a home such as /dev/null
        return {}
    except OSError as error:
        _fail(path, f"the record of trusted files can't be read: {_reason(error)}", _NAME)
    if data is None:
        _fail(path, "the record of trusted files is not a plain file", _DELETE)
    try:
        return _records(data)
    except _Broken as error:
        _fail(path, f"the record of trusted files is broken: {error}", _DELETE)


@contextlib.contextmanager
def changing() -> Iterator[dict[str, Record]]:
    """The records, to be changed: written when the block ends without an error.

    Other processes and threads that change them wait meanwhile; those that read see the old or
    the new records.

    Raises:
        TrustError: they can't be read or written.
    """
    from rlx.manifest import writing

    path = store()
    if not path.is_absolute():
        _fail(path, "this user has no home folder to keep a record of trusted files in", _NAME)
    with contextlib.ExitStack() as stack:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            stack.enter_context(_alone(path.with_name("trust.lock")))
        except OSError as error:
            _unwritable(path, error)
        known = read()
        before = dict(known)
        yield known
        if known != before:
            try:
                writing.replace(path, _text(known).encode(), mode=0o600)
            except OSError as error:
                _unwritable(path, error)


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One process and one thread at a time."""
    with _within, open(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:  # noqa: PTH123
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _bytes(path: Path) -> bytes | None:
    """The file's bytes; None where it is something else than a plain file."""
    try:
        with open_plain(path) as file:
            return file.read(MAX_BYTES + 1)
    except NotPlain:
        return None


class _Broken(Exception):
    """What a store that rlx did not write holds."""


def _records(data: bytes) -> dict[str, Record]:
    if len(data) > MAX_BYTES:
        raise _Broken(f"it has more than {MAX_BYTES} bytes")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise _Broken("it is not JSON") from None
    if not isinstance(body, dict) or "version" not in body:
        raise _Broken("it has no version")
    if body["version"] != VERSION:
        raise _Broken(f"its version is {printable(repr(body['version']))[:40]}, not {VERSION}")
    trusted = body.get("trusted")
    if not isinstance(trusted, dict):
        raise _Broken("'trusted' is not an object")
    return {path: _record(path, one) for path, one in trusted.items()}


def _record(path: str, one: Any) -> Record:
    body: dict[str, Any] = one if isinstance(one, dict) else {}
    values: list[Any] = [body.get(name) for name in ("folder", "when", "sha256")]
    references: Any = body.get("references")
    whole = isinstance(references, dict)
    if not whole or not all(isinstance(one, str) for one in (*values, *references.values())):
        raise _Broken(f"the record of {printable(path)} is not whole")
    folder, when, digest = values
    return Record(path, folder, printable(when), digest, tuple(references.items()))


def _text(known: dict[str, Record]) -> str:
    trusted = {
        path: {
            "folder": one.folder,
            "when": one.when,
            "sha256": one.digest,
            "references": dict(one.references),
        }
        for path, one in sorted(known.items())
    }
    return json.dumps({"version": VERSION, "trusted": trusted}, indent=2) + "\n"


def _unwritable(path: Path, error: OSError) -> NoReturn:
    _fail(path, f"the record of trusted files can't be written: {_reason(error)}", _NAME)


def _reason(error: OSError) -> str:
    return printable(error.strerror or str(error))


def _fail(path: Path, message: str, fix: str) -> NoReturn:
    raise TrustError(message, fix=fix, origin=Origin(printable(str(path))))
