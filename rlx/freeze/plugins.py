"""The plugins' layer: each plugin takes part as a whole, or not at all and with its faults."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rlx.errors import ConfigError, Fault
from rlx.freeze.content import Content
from rlx.freeze.merge import merge
from rlx.manifest import layers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rlx.manifest.discovery import LayerPath
    from rlx.manifest.loader import Manifest
    from rlx.manifest.plugins.finding import Plugin


def with_plugins(base: Content, plugins: Iterable[Plugin], files: Sequence[LayerPath]) -> Content:
    """The content with those plugins on top that break no rule; all are in its `plugins`.

    `files` are the plugins' files that are in force: one that a user named is not among them.
    Where they don't go together, they are taken by name, and one that breaks a rule is left out:
    of two that ship one id, the later. So what the first ships is there whoever else is installed.
    """
    listed = list(plugins)
    read: dict[str, tuple[Manifest, ...]] = {}
    for number, plugin in enumerate(listed):
        if plugin.active:
            try:
                read[plugin.name] = layers.load([f for f in plugin.files if f in files]).manifests
            except ConfigError as error:
                listed[number] = replace(plugin, faults=error.faults)
    everything = [one for manifests in read.values() for one in manifests]
    try:
        made = merge(everything, base)
    except ConfigError:
        made = base
        accepted: list[Manifest] = []
        for number, plugin in enumerate(listed):
            if plugin.name not in read:
                continue
            try:
                made = merge([*accepted, *read[plugin.name]], base)
            except ConfigError as error:
                listed[number] = replace(plugin, faults=error.faults)
            else:
                accepted += read[plugin.name]
    return replace(made, plugins=tuple(listed))


def explained(error: ConfigError, plugins: Iterable[Plugin]) -> ConfigError:
    """The error of the layers above, with what is wrong below them: it may be the cause."""
    broken = (replace(fault, severity="warning") for one in plugins for fault in one.faults)
    more: tuple[Fault, ...] = tuple(broken)
    return ConfigError((*error.faults, *more)) if more else error
