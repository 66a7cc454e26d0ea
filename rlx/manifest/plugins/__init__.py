"""Plugins: manifests that installed distributions ship, found without importing any of them.

A distribution names its manifests in the entry point group `rlx.manifests`, as `package` (then
the file is its `backends.yaml`) or as `package:file.yaml`. Nothing here imports what it finds.
"""

from rlx.manifest.plugins.finding import Plugin, find_plugins

__all__ = ["Plugin", "find_plugins"]
