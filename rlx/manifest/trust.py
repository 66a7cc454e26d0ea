"""Which project files the user trusts: by real path, and by the digests of all that was read."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlx.errors import ConfigError, TrustError, printable
from rlx.manifest import records
from rlx.manifest.faults import Faults
from rlx.manifest.files import read_bytes
from rlx.manifest.loader import digest_of, trusting
from rlx.manifest.records import Record

if TYPE_CHECKING:
    from datetime import datetime

    from rlx.manifest.loader import Manifest

VALID, CHANGED, MISSING = "valid", "changed", "missing"


@dataclass(frozen=True, slots=True)
class Standing:
    """A record, and how the files stand to it now."""

    record: Record
    state: str
    """`valid`, `changed` or `missing` (the project's file itself is gone)."""
    changed: tuple[str, ...] = ()
    """The files that are not what they were, as messages show them."""


def judged(manifest: Manifest) -> Manifest:
    """A project's manifest as trusted as its record makes it; else with the reason why not.

    What is compared are the digests of the bytes that were parsed: a file that is changed after
    it was read, or between two reads, can't be taken for the one that was trusted.
    """
    try:
        record = records.read().get(real(manifest.file))
    except TrustError as error:
        return replace(manifest, distrust=f"{error.origin}: {error.message}")
    if record is None:
        return manifest
    changed = _changed(manifest, record)
    if changed:
        noun = " and ".join(changed)
        reason = f"{noun} changed since this file was trusted on {record.when}"
        return replace(manifest, distrust=reason)
    return trusting(manifest)


def _changed(manifest: Manifest, record: Record) -> list[str]:
    changed = [] if manifest.digest == record.digest else [manifest.path]
    known = dict(record.references)
    for written, one in manifest.references:
        if known.pop(written, None) != one.digest and manifest.digest == record.digest:
            changed.append(one.path)
    return changed


def record(manifest: Manifest, now: datetime | None = None) -> Record:
    """Trust a file as it was read: what is recorded are the digests of the bytes that were parsed.

    Raises:
        TrustError: the records can't be read or written.
    """
    from datetime import UTC, datetime

    moment = datetime.now(UTC) if now is None else now
    made = Record(
        path=real(manifest.file),
        folder=os.path.abspath(manifest.file.parent),  # noqa: PTH100 - links in the path stay
        when=moment.strftime("%Y-%m-%d %H:%M:%SZ"),
        digest=manifest.digest,
        references=tuple((written, one.digest) for written, one in manifest.references),
    )
    with records.changing() as known:
        known[made.path] = made
    return made


def revoke(path: str | os.PathLike[str]) -> Record:
    """Take the trust in a file back; the file need not be there any more.

    Raises:
        TrustError: the file is not trusted, or the records can't be read or written.
    """
    with records.changing() as known:
        found = known.pop(real(path), None) or known.pop(os.fspath(path), None)
        if found is None:
            name = printable(os.fspath(path))
            raise TrustError(f"{name} is not trusted", fix="see `rlx trust --list`.")
    return found


def is_trusted(path: str | os.PathLike[str]) -> bool:
    """True when the file, and all that it refers to, is as it was when it was trusted."""
    try:
        found = records.read().get(real(path))
    except TrustError:
        return False
    return found is not None and standing(found).state == VALID


def standings() -> tuple[Standing, ...]:
    """Every record, by path, and how its files stand to it now.

    Raises:
        TrustError: the records can't be read.
    """
    return tuple(standing(one) for _, one in sorted(records.read().items()))


def standing(one: Record) -> Standing:
    """How the files of a record stand to it now."""
    if not os.path.lexists(one.path):
        return Standing(one, MISSING)
    changed = [] if _digest(Path(one.path)) == one.digest else [one.path]
    if not changed:
        files = ((Path(one.folder, written), known) for written, known in one.references)
        changed = [str(path) for path, known in files if _digest(path) != known]
    return Standing(one, CHANGED if changed else VALID, tuple(changed))


def _digest(path: Path) -> str | None:
    try:
        return digest_of(read_bytes(path, Faults(str(path))))
    except ConfigError:
        return None


def real(path: str | os.PathLike[str]) -> str:
    """The path that a record goes by: absolute, and without links."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # relative to a folder that was removed; a NUL
        return os.fspath(path)


__all__ = [
    "CHANGED",
    "MISSING",
    "VALID",
    "Record",
    "Standing",
    "is_trusted",
    "judged",
    "real",
    "record",
    "revoke",
    "standing",
    "standings",
]
