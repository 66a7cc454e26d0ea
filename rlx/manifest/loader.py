"""One file to a `Manifest`: read, parse, check its shape, and read the coverage it refers to."""

from __future__ import annotations

import hashlib
import os
import posixpath
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from rlx.errors import ConfigError, Fault, printable
from rlx.manifest import shape
from rlx.manifest.faults import Faults, limited, show
from rlx.manifest.files import read_bytes
from rlx.manifest.models import BackendsModel, CoverageModel, ManifestModel
from rlx.manifest.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.manifest.nodes import Document
    from rlx.origin import Origin

COVERAGE_KEYS = ("coverage", "compiles")
MOST_PARENTS = 3
"""Through how many files the rows of one coverage file may be inherited."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A checked file, and the place of everything in it."""

    model: ManifestModel
    document: Document = field(repr=False)
    file: Path
    trusted: bool = True
    references: tuple[tuple[str, Manifest], ...] = ()
    """The coverage files that the manifest leads to, each by its path from the manifest's folder.

    That is the path as it is written; for one that a coverage file inherits, with its folder.
    """
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
    references = _References()
    own = () if isinstance(manifest.model, BackendsModel) else (os.path.realpath(manifest.file),)
    found = references.attached(manifest, prefix, own)
    if references.faults:
        raise ConfigError(limited(references.faults))
    return found


@dataclass(slots=True)
class _References:
    """All coverage files that one manifest leads to, each read once."""

    faults: list[Fault] = field(default_factory=list)
    _files: dict[str, Manifest] = field(default_factory=dict)

    def attached(self, manifest: Manifest, prefix: str, parents: tuple[str, ...]) -> Manifest:
        """The manifest with what it leads to; `parents` are the coverage files down to it."""
        found: dict[str, Manifest] = {}
        seen: set[str] = set()
        for written, keys in named_files(manifest):
            if written in seen:
                continue
            seen.add(written)
            try:
                one = self._read(manifest, written, keys, prefix, parents)
            except ConfigError as error:
                self.faults.extend(one for one in error.faults if one not in self.faults)
                continue
            folder = posixpath.dirname(written)
            beside = f"{prefix}{printable(folder)}/" if folder else prefix
            one = self.attached(one, beside, (*parents, os.path.realpath(one.file)))
            found[written] = one
            for further, inherited in one.references:
                found.setdefault(posixpath.join(folder, further), inherited)
        return replace(manifest, references=tuple(found.items()))

    def _read(
        self,
        manifest: Manifest,
        written: str,
        keys: tuple[str | int, ...],
        prefix: str,
        parents: tuple[str, ...],
    ) -> Manifest:
        """One file; what is wrong with its path, or with the chain to it, is said at its name."""
        place = manifest.origin(*keys)
        faults = Faults(manifest.path, manifest.layer)
        at = (place.line, place.column)
        file = _below(manifest, written, str(keys[-1]), faults, at)
        if os.path.realpath(file) in parents:
            message = f"{show(written)} leads back to itself: its rows are inherited in a circle"
            faults.add("coverage-chain", message, "write the rows of one of them out.", at)
            faults.stop()
        if len(parents) > MOST_PARENTS:
            message = f"rows are inherited through more than {MOST_PARENTS} files"
            faults.add("coverage-chain", message, "name a file further up the chain.", at)
            faults.stop()
        shown = f"{prefix}{printable(written)}"
        found = self._files.get(shown)
        if found is None:
            found = read_file(file, manifest.layer, shown=shown, trusted=manifest.trusted)
            self._files[shown] = found
        if found.kind != "Coverage":
            message = f"{keys[-1]} must name a manifest of kind Coverage, got {found.kind}"
            faults.add("coverage-kind", message, "name a Coverage manifest.", at)
            faults.stop()
        return found


def trusting(manifest: Manifest) -> Manifest:
    """The manifest, trusted with all that it refers to."""
    references = tuple((written, trusting(one)) for written, one in manifest.references)
    return replace(manifest, trusted=True, references=references)


def named_files(manifest: Manifest) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Each coverage path that a manifest names, as it is written, and the keys of its place."""
    model = manifest.model
    if isinstance(model, CoverageModel) and model.inherits is not None:
        yield model.inherits, ("inherits",)
    if not isinstance(model, BackendsModel):
        return
    for index, backend in enumerate(model.backends):
        for key in COVERAGE_KEYS:
            value = getattr(backend, key)
            if isinstance(value, str):
                yield value, ("backends", index, key)
    for index, override in enumerate(model.overrides):
        if isinstance(override.coverage, str):
            yield override.coverage, ("overrides", index, "coverage")


def is_below(written: str) -> bool:
    """True for a path that, by its text, leads to a file below the manifest's folder."""
    pure = PurePosixPath(written)
    rooted = pure.is_absolute() or PureWindowsPath(written).drive
    return not (rooted or ".." in pure.parts or "\\" in written or not pure.parts)


def _below(manifest: Manifest, written: str, key: str, faults: Faults, at: tuple[int, int]) -> Path:
    """The file that a path leads to, which is there and below the manifest's folder."""
    folder = manifest.file.parent
    if not is_below(written):
        message = f"{key} must be a path below this file's folder, got {show(written)}"
        faults.add("coverage-path", message, "write it as 'coverage/name.yaml'.", at)
        faults.stop()
    file = folder / written
    if not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(folder)):
        message = f"{key} must stay below this file's folder, but a link leads {show(written)} out"
        faults.add("coverage-path", message, "put the file itself there.", at)
        faults.stop()
    if not os.path.lexists(file):
        message = f"the coverage file {show(written)} is not there"
        faults.add("file-missing", message, "correct the path, or write the file.", at)
        faults.stop()
    return file
