"""From the files in force to the content of a registry: compiled where that is up to date."""

from __future__ import annotations

from rlx.errors import ConfigError
from rlx.freeze import compiled
from rlx.manifest.discovery import FILE, LayerPath, StrPath, find
from rlx.manifest.plugins import find_plugins

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.freeze.content import Content

PACKAGED = f"packaged {FILE}"
LAYERS = ("packaged", "plugin", "system", "user", "project", "environment", "argument", "code")
"""Every layer, the strongest last."""


def load(
    config: Sequence[StrPath] = (),
    only: bool = False,
    cwd: StrPath | None = None,
    environment: StrPath | None = None,
    plugins: bool = False,
    edited: LayerPath | None = None,
) -> Content:
    """What the layers in force add up to; arguments as for `discovery.find`, and with `plugins`.

    `edited` takes the place of the same file, or of none, as the last one of its layer.

    Raises:
        ConfigError: a file is broken, or a rule is; it holds every fault of that stage.
    """
    installed = find_plugins() if plugins else ()
    shipped = [file for one in installed if one.active for file in one.files]
    found = find(config, only, cwd, environment=environment, plugins=shipped)
    if edited is not None:
        found = _with(found, edited)
    base = _compiled(found[0])
    if not installed:
        if base is None:
            return parsed(found)
        return base if len(found) == 1 else parsed(found[1:], base)
    from rlx.freeze.plugins import explained, with_plugins

    content = with_plugins(base or parsed(found[:1]), installed, found)
    above = [one for one in found[1:] if one not in shipped]
    if not above:
        return content
    try:
        return parsed(above, content)
    except ConfigError as error:
        raise explained(error, content.plugins) from None


def _compiled(packaged: LayerPath) -> Content | None:
    """The compiled packaged layer, unless its YAML was edited, or a user named it to be checked."""
    shipped = packaged.shown == PACKAGED and packaged.data is None
    return compiled.read(packaged.path.parent) if shipped else None


def _with(found: tuple[LayerPath, ...], edited: LayerPath) -> tuple[LayerPath, ...]:
    if any(one.path == edited.path for one in found):
        return tuple(edited if one.path == edited.path else one for one in found)
    height = LAYERS.index(edited.layer)
    index = sum(LAYERS.index(one.layer) <= height for one in found)
    return (*found[:index], edited, *found[index:])


def parsed(paths: Sequence[LayerPath], base: Content | None = None) -> Content:
    """The content from the YAML itself, above `base`."""
    from rlx.freeze.merge import merge
    from rlx.manifest import layers

    read = layers.load(paths)
    return merge(read.manifests, base, read.notes)
