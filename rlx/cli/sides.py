"""OLD and NEW of `rlx diff`: each is one configuration, above what is installed."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from rlx.cli import revisions
from rlx.errors import ConfigError, Fault, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.freeze.content import Content
    from rlx.manifest.discovery import LayerPath
    from rlx.registries import Registry

PACKAGED = "packaged"
KINDS = ("Backends", "Operations")


def registries(texts: Sequence[str]) -> list[Registry]:
    """The registry that each side stands for.

    A side is a manifest, a folder that holds one, `REV:path` of git, or `packaged`: what rlx
    ships, without more. It is read as trusted, as one that a user names, above the packaged layer
    and the plugins; the system's, the user's and the project's own files count for nothing.

    Raises:
        ConfigError: a side is broken; it holds the faults of all of them.
        click.UsageError: a side stands for nothing.
    """
    from rlx.registries import Registry

    made: list[Registry] = []
    faults: dict[Fault, None] = {}
    for text in texts:
        try:
            made.append(Registry(content(text)))
        except ConfigError as error:
            faults.update(dict.fromkeys(error.faults))
    if faults:
        raise ConfigError(faults)
    return made


def content(text: str) -> Content:
    """The frozen content that a side stands for."""
    from rlx.freeze import loading
    from rlx.manifest.discovery import LayerPath

    if text == PACKAGED:
        return loading.load((), only=True, plugins=True)
    with ExitStack() as stack:
        revision = revisions.split(text)
        place: Path | None
        if revision is None:
            path = place = _manifest(Path(text))
            shown = printable(str(path))
        else:
            folder = stack.enter_context(TemporaryDirectory(prefix="rlx-diff-"))
            path = revisions.write(*revision, Path(folder))
            shown, place = printable(text), _in_tree(revision[1])
        if _is_packaged(place):
            return loading.parsed((LayerPath("packaged", path, shown),))
        return _above(LayerPath("argument", path, shown))


def _above(layer: LayerPath) -> Content:
    """What is installed, with the file on top."""
    from rlx.freeze import loading
    from rlx.freeze.merge import merge
    from rlx.manifest import layers

    below = loading.load((), only=True, plugins=True)
    read = layers.load((layer,))
    for one in read.manifests:
        if one.kind not in KINDS:
            raise click.UsageError(
                f"{layer.shown} is of kind {one.kind}, which alone changes no route. Fix: name the "
                "Backends manifest that refers to it."
            )
    try:
        return merge(read.manifests, below, read.notes)
    except ConfigError as error:
        if not below.plugins:
            raise
        from rlx.freeze.plugins import explained

        raise explained(error, below.plugins) from None


def _manifest(path: Path) -> Path:
    """The file itself; in a folder, the one that rlx would find there."""
    from rlx.manifest.discovery import PROJECT_FILES

    if not path.is_dir():
        return path
    for name in PROJECT_FILES:
        if os.path.lexists(path / name):
            return path / name
    raise click.UsageError(
        f"{printable(str(path))} has no {', no '.join(PROJECT_FILES)}. Fix: name a manifest."
    )


def _in_tree(path: str) -> Path | None:
    """Where the file of a revision stands in the working tree."""
    if path.startswith("./"):
        return Path(path)
    top = revisions.top()
    return None if top is None else top / path


def _is_packaged(path: Path | None) -> bool:
    """True for the file that rlx itself ships: it is the packaged layer, not above it."""
    from rlx import resources
    from rlx.manifest.discovery import FILE

    packaged = os.path.realpath(resources.configs() / FILE)
    return path is not None and os.path.realpath(path) == packaged
