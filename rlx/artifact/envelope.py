"""The envelope: one file that holds a header and parts, and shows every damage to either.

8 bytes     89 52 4C 58 0D 0A 1A 0A   (as PNG's, so that a transfer as text shows)
4 bytes     length of the header, big-endian
32 bytes    SHA-256 of the header
n bytes     the header: canonical JSON, which lists the parts with lengths and SHA-256
…           the parts, one after the other, and nothing after them
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO

from rlx.artifact.header import Header
from rlx.errors import CorruptArtifact

if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC = b"\x89RLX\r\n\x1a\n"
PREFIX = len(MAGIC) + 4 + 32
LARGEST_HEADER = 1 << 20
LARGEST = 4 << 30
"""Bytes that an artifact may have; more is refused before any of it is read."""
_CHUNK = 1 << 20
_EMPTY_FIX = "this is no file that `rlx build` wrote; check the path."


def pack(header: Header, parts: Sequence[bytes]) -> bytes:
    """The file's bytes; the same for the same header and parts.

    Raises:
        ValueError: the parts are not those that the header lists, or they are too large.
    """
    listed = [(part.length, part.sha256) for part in header.parts]
    if listed != [(len(part), sha256(part).hexdigest()) for part in parts]:
        raise ValueError("the parts are not those that the header lists")
    head = header.to_bytes()
    total = PREFIX + len(head) + sum(map(len, parts))
    if len(head) > LARGEST_HEADER or total > LARGEST:
        raise ValueError(
            f"an artifact may have {LARGEST} bytes and a header of {LARGEST_HEADER}, "
            f"this one has {total} and {len(head)}"
        )
    return b"".join([MAGIC, len(head).to_bytes(4, "big"), sha256(head).digest(), head, *parts])


def read(file: BinaryIO) -> tuple[Header, tuple[bytes, ...]]:
    """The header and the parts, every byte of them checked.

    Raises:
        CorruptArtifact: something is damaged, missing, too much or too large. No part is handed
            out, or looked into, before all digests match.
    """
    header = read_header(file)
    parts = []
    for part in header.parts:
        data = _exactly(file, part.length, f"part {part.name}")
        if sha256(data).hexdigest() != part.sha256:
            raise CorruptArtifact(f"part {part.name} does not have the SHA-256 that it should")
        parts.append(data)
    if file.read(1):
        raise CorruptArtifact("there is more in the file than its header lists")
    return header, tuple(parts)


def read_header(file: BinaryIO) -> Header:
    """The header alone, once it is whole and the file is as long as it says.

    Raises:
        CorruptArtifact: it is not.
    """
    size = _size(file)
    if size is not None and size > LARGEST:
        raise CorruptArtifact(f"it has {size} bytes, an artifact has at most {LARGEST}")
    start = file.read(PREFIX)
    if not start.startswith(MAGIC):
        raise CorruptArtifact("it does not begin as an artifact does", fix=_EMPTY_FIX)
    if len(start) < PREFIX:
        raise CorruptArtifact(f"it ends after {len(start)} bytes, before its header")
    length = int.from_bytes(start[len(MAGIC) : len(MAGIC) + 4], "big")
    if length > LARGEST_HEADER:
        raise CorruptArtifact(f"its header would have {length} bytes, it may have {LARGEST_HEADER}")
    head = _exactly(file, length, "the header")
    if sha256(head).digest() != start[-32:]:
        raise CorruptArtifact("its header does not have the SHA-256 that it should")
    header = Header.from_bytes(head)
    declared = PREFIX + length + sum(part.length for part in header.parts)
    if declared > LARGEST:
        raise CorruptArtifact(f"it declares {declared} bytes, an artifact has at most {LARGEST}")
    if size is not None and size != declared:
        raise CorruptArtifact(f"it has {size} bytes, its header declares {declared}")
    return header


def _size(file: BinaryIO) -> int | None:
    """The file's size; None where it has none to be known beforehand, as of a pipe."""
    try:
        found = os.fstat(file.fileno())
    except (OSError, AttributeError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _exactly(file: BinaryIO, length: int, what: str) -> bytes:
    """So many bytes, read piece by piece: memory is taken only for what is there."""
    pieces, left = [], length
    while left:
        piece = file.read(min(left, _CHUNK))
        if not piece:
            raise CorruptArtifact(f"{what} ends after {length - left} of {length} bytes")
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
