"""The manifest that a command edits: the project's, or the one that is named."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlx.errors import EditError, printable

if TYPE_CHECKING:
    from rlx.manifest.discovery import LayerPath
    from rlx.manifest.nodes import Document
    from rlx.registries import Registry


@dataclass(frozen=True, slots=True)
class Target:
    """One file, and how the configuration is read with it."""

    own: LayerPath
    """Trusted: what is edited is judged as `rlx validate` judges it."""
    missing: bool
    in_force: bool
    """True when routing reads the file without its being named."""
    cwd: Path | None
    """Where the search for the project's file begins."""

    @property
    def discovered(self) -> bool:
        """True for the project's file."""
        return self.own.layer == "project"

    def read(self) -> bytes:
        """The file's bytes.

        Raises:
            ConfigError: it is not a plain file, or can't be read.
        """
        from rlx.manifest.faults import Faults
        from rlx.manifest.files import read_bytes

        return read_bytes(self.own.path, Faults(self.own.shown, self.own.layer))

    def document(self, data: bytes) -> Document:
        """What the bytes hold.

        Raises:
            ConfigError: they are not a manifest; it holds every fault.
            EditError: they are one of another kind.
        """
        from rlx.manifest import shape
        from rlx.manifest.parser import parse

        document = parse(data, self.own.shown, self.own.layer)
        kind = shape.check(document).kind
        if kind != "Backends":
            raise EditError(
                f"{self.own.shown} is a manifest of kind {kind}: it sets nothing of a backend",
                fix="name a manifest of kind Backends.",
            )
        return document

    def registry(self, data: bytes) -> Registry:
        """The registry with these bytes as the file's.

        Raises:
            ConfigError: some file is broken, or a rule is; it holds every fault.
        """
        from rlx import settings
        from rlx.freeze.loading import load
        from rlx.registries import Registry

        named, only = settings.configuration()
        edited = replace(self.own, data=data)
        content = load((), only, self.cwd, named or None, plugins=not only, edited=edited)
        return Registry(content)

    def write(self, before: bytes, after: bytes) -> None:
        """Put the new bytes in the file's place.

        Raises:
            EditError: the file is not what it was when it was read.
            OSError: it can't be written, and is as it was.
        """
        from rlx.manifest import writing

        if self.missing:
            if os.path.lexists(self.own.path):
                self._meanwhile()
        elif self.read() != before:
            self._meanwhile()
        writing.replace(self.own.path, after)

    def _meanwhile(self) -> None:
        raise EditError(
            f"{self.own.shown} was changed by somebody else meanwhile, and is left as it is",
            fix="run the command again.",
        )


def target(file: str | None) -> Target:
    """The file to edit: the one named, the project's, or the one that the project would have.

    Raises:
        EditError: it is one that rlx does not read, or another's.
    """
    from rlx import settings
    from rlx.manifest.discovery import LayerPath, find

    named, only = settings.configuration()
    cwd = None if file is None else Path(file).parent
    own = project() if file is None else LayerPath("argument", Path(file), printable(file) or ".")
    real = os.path.realpath(own.path)
    found = find((), only, cwd, environment=named or None)
    same = [one for one in found if os.path.realpath(one.path) == real and not one.misnamed]
    if same:
        own = replace(same[0], shown=own.shown)
    missing = not os.path.lexists(own.path)
    in_force = bool(same) or (missing and file is None and not only)
    return Target(replace(own, trusted=True), missing, in_force, cwd)


def project() -> LayerPath:
    """The project's file, or where it would be written.

    Raises:
        EditError: only another ending would make it rlx's, or there is no folder to hold it.
    """
    from rlx.manifest.discovery import (
        FILE,
        LayerPath,
        find,
        project_folders,
        relative,
        working_directory,
    )

    for one in find():
        if one.layer == "project":
            if one.misnamed:
                raise EditError(
                    f"{one.shown} is not read: rlx reads names that end in .yaml",
                    fix="rename it, or name another file.",
                )
            return one
    folders = project_folders(working_directory())
    if not folders:
        raise EditError("the working directory is gone", fix="change into a folder that exists.")
    path = folders[-1] / FILE
    return LayerPath("project", path, relative(path))
