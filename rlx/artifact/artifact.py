"""An artifact: a header and a payload, made in memory or read from a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlx.artifact import envelope
from rlx.backends.payload import Payload
from rlx.errors import ArtifactError, CorruptArtifact, printable
from rlx.files import open_plain
from rlx.manifest.writing import replace

if TYPE_CHECKING:
    from rlx.artifact.header import Header


@dataclass(frozen=True, slots=True)
class Artifact:
    """What `rlx build` makes: it can be written, moved, checked and run elsewhere."""

    header: Header
    parts: tuple[bytes, ...] = field(repr=False)
    """In the header's order."""

    @property
    def payload(self) -> Payload:
        """The payload, for a materializer."""
        named = zip((part.name for part in self.header.parts), self.parts, strict=True)
        return Payload(self.header.payload_format, self.header.toolchain, tuple(named))

    def to_bytes(self) -> bytes:
        """The file's content; the same for the same program, target and toolchain."""
        return envelope.pack(self.header, self.parts)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it in one piece: readers see what was there before, or all of it.

        Raises:
            ArtifactError: the file can't be written; what was there is as it was.
        """
        try:
            replace(path, self.to_bytes())
        except ValueError as error:  # a path with a NUL, or more than an artifact may have
            raise ArtifactError(f"{_shown(path)} can't be written: {error}") from error
        except OSError as error:
            raise ArtifactError(
                f"{_shown(path)} can't be written: {error.strerror}",
                fix="choose a folder that exists and that you may write to.",
            ) from error


def read_artifact(path: str | os.PathLike[str]) -> Artifact:
    """Read an artifact, every byte of it checked; nothing of the payload is looked into.

    Raises:
        CorruptArtifact: it is damaged, cut short, too large, or no artifact.
        ArtifactError: the file can't be read.
    """
    try:
        with open_plain(path) as file:
            return Artifact(*envelope.read(file))
    except CorruptArtifact as error:
        raise CorruptArtifact(f"{_shown(path)}: {error.message}", fix=error.fix) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        said = error.strerror if isinstance(error, OSError) else error
        raise ArtifactError(
            f"{_shown(path)} can't be read: {said}", fix="check the path."
        ) from error


def _shown(path: str | os.PathLike[str]) -> str:
    return printable(os.fspath(path))
