"""Where measured coverage is written: into the checkout, or into the user's own configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rlx import resources
from rlx.errors import ConfigError, EditError
from rlx.freeze import __main__ as freezing
from rlx.manifest import editing, shape, writing
from rlx.manifest.discovery import FILE, user_file
from rlx.manifest.files import read_bytes
from rlx.manifest.parser import parse

if TYPE_CHECKING:
    from rlx.conformance.conform import Result

HEAD = "apiVersion: rlx/v1\nkind: Backends\n"


def packaged_place(result: Result) -> Path | None:
    """The packaged coverage file of a backend; None where this checkout has none of it."""
    if not resources.is_checkout(resources.PACKAGE.parent):
        return None
    settings = result.registration.settings("coverage")
    if not settings or settings[0].origin.layer != "packaged":
        return None
    written = settings[0].value
    return resources.configs() / written if isinstance(written, str) else None


def write_packaged(result: Result, path: Path) -> None:
    """Write the file, and compile the packaged layer anew.

    Raises:
        ConfigError: the new layer breaks a rule; what is wrong was printed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    writing.replace(path, result.coverage(packaged=True).encode("utf-8"))
    if freezing.main(["--write"]) != 0:
        raise ConfigError(())


def write_user(result: Result) -> Path:
    """Write the file beside the user's own manifest, and an override there that names it.

    Raises:
        ConfigError: the user's manifest is broken.
        EditError: it can't be edited, or there is no home to hold it.
    """
    manifest = user_file()
    if manifest is None:
        raise EditError("there is no folder for the user's configuration", fix="set HOME.")
    name = f"coverage/{result.registration.id}.yaml"
    path = manifest.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    writing.replace(path, result.coverage(packaged=False).encode("utf-8"))
    text = HEAD
    if os.path.lexists(manifest):
        from rlx.manifest.faults import Faults

        text = read_bytes(manifest, Faults(str(manifest), "user")).decode("utf-8-sig")
    document = parse(text.encode("utf-8"), str(manifest), "user")
    if shape.check(document).kind != "Backends":
        raise EditError(f"{manifest} is no manifest of kind Backends", fix=f"rename it: {FILE}.")
    edited = editing.edit(document, result.registration.id, "coverage", name)
    if edited != text or text == HEAD:
        writing.replace(manifest, edited.encode("utf-8"))
    return path
