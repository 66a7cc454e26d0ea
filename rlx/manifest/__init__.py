"""Manifests: YAML text to nodes with line and column, to checked models, to layers.

`discovery.find` needs neither yaml nor pydantic; the names here load what they need when used.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from typing import Any

    from rlx.manifest.discovery import LayerPath, find
    from rlx.manifest.layers import Layers, discover, load
    from rlx.manifest.loader import Manifest, read_file
    from rlx.manifest.nodes import Document
    from rlx.manifest.parser import parse

_HOMES = {
    "Document": "nodes",
    "LayerPath": "discovery",
    "Layers": "layers",
    "Manifest": "loader",
    "discover": "layers",
    "find": "discovery",
    "load": "layers",
    "parse": "parser",
    "read_file": "loader",
}

__all__ = [
    "Document",
    "LayerPath",
    "Layers",
    "Manifest",
    "discover",
    "find",
    "load",
    "parse",
    "read_file",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rlx.manifest' has no attribute {name!r}")
    return getattr(import_module(f"rlx.manifest.{home}"), name)
