"""Answers on disk, one small file each: written whole, and asked again where they are not usable.

A file is named by a digest of all that its answer depends on. Nothing is ever wrong for a file
that is missing, cut off, foreign, too old or in a folder that can't be written: the question is
asked again. Files hold facts only; nothing in them is run.
"""

from __future__ import annotations

import contextlib
import json
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from rlx import settings
from rlx.errors import RlxError
from rlx.files import open_plain
from rlx.manifest import writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT = 1
FOLDER = "probes"
SUFFIX = ".probe.json"
LIMIT = 1 << 16
"""Bytes of a file that are looked at."""
MOST = 512
"""Files that are kept; more are cleared away, oldest first."""


def digest(*parts: Any) -> str:
    """SHA-256 of plain data, as hexadecimal."""
    return sha256(json.dumps(parts, separators=(",", ":")).encode("ascii")).hexdigest()


def read(kind: str, key: str, seconds: float) -> dict[str, Any] | None:
    """What was written for the key in the last `seconds`; None: nothing that can be used."""
    path = _path(kind, key)
    if path is None:
        return None
    try:
        with open_plain(path) as file:
            data = json.loads(file.read(LIMIT))
        if data["format"] != FORMAT or data["kind"] != kind or data["key"] != key:
            return None
        age = time.time() - data["written"]
        found = data["answer"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    # A clock that was set back makes a file of the future: its age is not known.
    return found if 0 <= age <= seconds and isinstance(found, dict) else None


def write(kind: str, key: str, answer: dict[str, Any]) -> None:
    """Keep an answer; where that can't be done, it is not."""
    path = _path(kind, key)
    if path is None:
        return
    data = {
        "format": FORMAT,
        "kind": kind,
        "key": key,
        "written": time.time(),
        "answer": answer,
    }
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        writing.replace(path, json.dumps(data, indent=1).encode("ascii"), mode=0o600)
        _clear(path.parent)


def forget() -> None:
    """Take every answer away."""
    folder = _folder()
    for path in () if folder is None else _files(folder):
        with contextlib.suppress(OSError):
            path.unlink()


def _folder() -> Path | None:
    try:
        return settings.cache_folder() / FOLDER
    except RlxError:  # a bad variable: whoever reads it says so
        return None


def _path(kind: str, key: str) -> Path | None:
    folder = _folder()
    return None if folder is None else folder / f"{kind}-{key[:32]}{SUFFIX}"


def _files(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from sorted(folder.glob(f"*{SUFFIX}"))


def _clear(folder: Path) -> None:
    files = list(_files(folder))
    if len(files) <= MOST:
        return
    ages = []
    for path in files:
        with contextlib.suppress(OSError):
            ages.append((path.stat().st_mtime, path))
    for _, path in sorted(ages)[: len(ages) - MOST // 2]:
        with contextlib.suppress(OSError):
            path.unlink()
