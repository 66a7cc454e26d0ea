"""One file to a `Manifest`: read, parse, check its shape, and read the coverage it refers to."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from rlx.errors import ConfigError, Fault, printable
from rlx.manifest import shape
from rlx.manifest.faults import Faults, limited, show
from rlx.manifest.files import read_bytes
from rlx.manifest.models import BackendsModel, ManifestModel
from rlx.manifest.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.manifest.nodes import Document
    from rlx.origin import Origin

COVERAGE_KEYS = ("coverage", "compiles")


@dataclass(frozen=True, slots=True)
class Manifest:
    """A checked file, and the place of everything in it."""

    model: ManifestModel
    document: Document = field(repr=False)
    file: Path
    trusted: bool = True
    references: tuple[tuple[str, Manifest], ...] = ()
    """The coverage files that a Backends manifest refers to, by the path as it is written."""
    digest: str = ""
    """SHA-256 of the bytes that were parsed, in hexadecimal."""
    distrust: str = ""
    """Why a project's file that was trusted once is not trusted now."""

    @property
    def kind(self) -> str:
        """`Backends`, `Coverage` or `Operations`."""
        return self.model.kind

    @property
    def path(self) -> str:
        """How messages name the file."""
        return self.document.path

    @property
    def layer(self) -> str:
        """The layer that the file belongs to."""
        return self.document.layer

    def origin(self, *keys: str | int) -> Origin:
        """The place of a value, as `origin("backends", 2, "rank")`, or of its nearest parent."""
        return self.document.origin(*keys)

    def key_origin(self, *keys: str | int) -> Origin:
        """The place of a key; of an item, the place of the item."""
        return self.document.key_origin(*keys)

    def reference(self, written: str) -> Manifest | None:
        """The coverage manifest that a `coverage` or `compiles` path leads to."""
        return dict(self.references).get(written)


def read_file(
    path: str | os.PathLike[str],
    layer: str = "argument",
    *,
    shown: str | None = None,
    trusted: bool = True,
) -> Manifest:
    """Read and check one manifest of any kind; the coverage that it refers to is not read.

    Raises:
        ConfigError: everything that is wrong with the first stage that fails: file, syntax, shape.
    """
    name = printable(os.fspath(path)) if shown is None else shown
    data = read_bytes(Path(path), Faults(name, layer))
    return checked(parse(data, name, layer), Path(path), trusted, digest_of(data))


def digest_of(data: bytes) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def checked(document: Document, file: Path, trusted: bool, digest: str = "") -> Manifest:
    """A parsed file, with its shape checked.

    Raises:
        ConfigError: everything that is wrong with the shape.
    """
    return Manifest(shape.check(document), document, file, trusted, digest=digest)


def attach(manifest: Manifest, prefix: str) -> Manifest:
    """The manifest with the coverage files that it refers to; `prefix` shows their folder.

    Raises:
        ConfigError: all faults of all these files, and of the paths that name them.
    """
    found: dict[str, Manifest] = {}
    faults: list[Fault] = []
    seen: set[str] = set()
    for written, keys in named_files(manifest):
        if written in seen:
            continue
        seen.add(written)
        try:
            found[written] = _read_reference(manifest, written, keys, prefix)
        except ConfigError as error:
            faults.extend(error.faults)
    if faults:
        raise ConfigError(limited(faults))
    return replace(manifest, references=tuple(found.items()))


def named_files(manifest: Manifest) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Each coverage path that a manifest names, as it is written, and the keys of its place."""
    if not isinstance(manifest.model, BackendsModel):
        return
    for index, backend in enumerate(manifest.model.backends):
        for key in COVERAGE_KEYS:
            value = getattr(backend, key)
            if isinstance(value, str):
                yield value, ("backends", index, key)


def is_below(written: str) -> bool:
    """True for a path that, by its text, leads to a file below the manifest's folder."""
    pure = PurePosixPath(written)
    rooted = pure.is_absolute() or PureWindowsPath(written).drive
    return not (rooted or ".." in pure.parts or "\\" in written or not pure.parts)


def _read_reference(
    manifest: Manifest, written: str, keys: tuple[str | int, ...], prefix: str
) -> Manifest:
    """One coverage file. What is wrong with the path or the file is reported where it is named."""
    place = manifest.origin(*keys)
    faults = Faults(manifest.path, manifest.layer)
    at = (place.line, place.column)
    folder = manifest.file.parent
    if not is_below(written):
        message = f"{keys[-1]} must be a path below this file's folder, got {show(written)}"
        faults.add("coverage-path", message, "write it as 'coverage/name.yaml'.", at)
        faults.stop()
    file = folder / written
    if not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(folder)):
        message = (
            f"{keys[-1]} must stay below this file's folder, but a link leads {show(written)} out"
        )
        faults.add("coverage-path", message, "put the file itself there.", at)
        faults.stop()
    if not os.path.lexists(file):
        message = f"the coverage file {show(written)} is not there"
        faults.add("file-missing", message, "correct the path, or write the file.", at)
        faults.stop()
    shown = f"{prefix}{printable(written)}"
    found = read_file(file, manifest.layer, shown=shown, trusted=manifest.trusted)
    if found.kind != "Coverage":
        message = f"{keys[-1]} must name a manifest of kind Coverage, got {found.kind}"
        faults.add("coverage-kind", message, "name a Coverage manifest.", at)
        faults.stop()
    return found
