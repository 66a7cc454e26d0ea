"""From the files in force to the content of a registry: compiled where that is up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.freeze import compiled
from rlx.manifest.discovery import FILE, LayerPath, StrPath, find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.freeze.content import Content

PACKAGED = f"packaged {FILE}"


def load(
    config: Sequence[StrPath] = (),
    only: bool = False,
    cwd: StrPath | None = None,
    environment: StrPath | None = None,
) -> Content:
    """What the layers in force add up to; arguments as for `discovery.find`.

    Raises:
        ConfigError: a file is broken, or a rule is; it holds every fault of that stage.
    """
    found = find(config, only, cwd, environment=environment)
    base = _compiled(found[0])
    if base is None:
        return parsed(found)
    return base if len(found) == 1 else parsed(found[1:], base)


def _compiled(packaged: LayerPath) -> Content | None:
    """The compiled packaged layer, unless its YAML was edited, or a user named it to be checked."""
    return compiled.read(packaged.path.parent) if packaged.shown == PACKAGED else None


def parsed(paths: Sequence[LayerPath], base: Content | None = None) -> Content:
    """The content from the YAML itself, above `base`."""
    from rlx.freeze.merge import merge
    from rlx.manifest import layers

    read = layers.load(paths)
    return merge(read.manifests, base, read.notes)
