"""Plugins: manifests that installed distributions ship, found without importing any of them.

A distribution names its manifests in the entry point group `rlx.manifests`, as `package` (then
the file is its `backends.yaml`) or as `package:file.yaml`. Nothing here imports what it finds.
"""

from __future__ import annotations

import sys

from rlx.manifest.plugins.distributions import distributions

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.manifest.plugins.finding import Plugin

__all__ = ["find_plugins"]


def find_plugins(path: Sequence[str] | None = None) -> tuple[Plugin, ...]:
    """Every plugin on the path (by default `sys.path`), by name; no file of theirs is opened yet.

    The working directory, where Python puts it on the path, is not a place to install into: what
    it holds is named with that fault.
    """
    found = tuple(distributions(sys.path if path is None else path))
    if not found:
        return ()
    from rlx.manifest.plugins.finding import plugin

    made = (plugin(one, stray) for one, stray in found)
    return tuple(sorted((one for one in made if one is not None), key=lambda one: one.name))
