"""What `rlx backends` says of installed plugins: which take part, and why the others don't."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rlx.cli import output
from rlx.errors import printable
from rlx.manifest.plugins import find_plugins
from rlx.settings import configuration
from rlx.spelling import nearest

if TYPE_CHECKING:
    from rlx.manifest.plugins.finding import Plugin
    from rlx.registries import Registry

    State = tuple[Plugin, str | None]
    """A plugin, and why it takes no part."""


def states(registry: Registry) -> list[State]:
    """Every installed plugin, by name."""
    _, only = configuration()
    if only:
        return [(one, "RLX_CONFIG_ONLY leaves plugins out") for one in find_plugins()]
    return [(one, None if one.active else _count(len(one.faults))) for one in registry.plugins]


def _count(faults: int) -> str:
    return f"{faults} fault{'' if faults == 1 else 's'}, shown as warnings"


def others(backend: str, registry: Registry) -> str:
    """The ids to choose from; where none is like this one, where its plugin would have to be."""
    ids = [one.id for one in registry.registrations]
    known = ", ".join(ids)
    if nearest(backend, ids) is not None:
        return known
    sites = [printable(one) for one in dict.fromkeys(sys.path) if one.endswith("-packages")]
    return f"{known}; or install its plugin into {' or '.join(sites) or 'a folder of sys.path'}"


def lines(found: list[State]) -> list[str]:
    """One line for each plugin that takes no part; the others show by their backends' places."""
    return [f"{one} takes no part: {why}" for one, why in found if why is not None]


def to_json(found: list[State]) -> list[dict[str, Any]]:
    """The plugins, as `rlx backends --json` prints them."""
    return [
        {
            "name": one.name,
            "version": one.version,
            "active": why is None,
            "reason": why,
            "files": [file.shown for file in one.files],
            "faults": [output.fault_json(fault) for fault in one.faults],
        }
        for one, why in found
    ]
