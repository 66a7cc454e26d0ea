"""YAML text to a document of nodes: libyaml's events over text decoded before, and no composer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from rlx.manifest import syntax
from rlx.manifest.builder import Builder
from rlx.manifest.faults import Faults
from rlx.manifest.nodes import Document
from rlx.manifest.text import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Only its events are used. Python's own parser, where libyaml is missing, refuses a little more
(a tab as the blank after a colon) and reads nothing differently."""
_START = "start with 'apiVersion: rlx/v1' and 'kind: Backends'; `rlx init` writes an example."


def parse(data: bytes, path: str, layer: str = "") -> Document:
    """Read one manifest's bytes; `path` is how messages name the file.

    Raises:
        ConfigError: every fault that the text has: not UTF-8, not YAML, or YAML that has more
            than one reading (duplicate keys, tags, anchors, `no`, `012` …), too large or too deep.
    """
    faults = Faults(path, layer)
    text = decode(data, faults)
    builder = Builder(text, faults)
    for event in _events(text, faults):
        builder.take(event)
        if not builder.open:
            break
    if faults:
        faults.stop()
    if builder.root is None:
        faults.add("file-empty", "a manifest may not be empty", _START)
        faults.stop()
    return Document(path, layer, text, builder.root)


def _events(text: str, faults: Faults) -> Iterator[Any]:
    """The parser's events; a syntax error ends them and becomes a fault."""
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    except (yaml.YAMLError, ValueError) as error:  # ValueError: PyYAML's chr() of an escape
        syntax.explain(error, text, faults)
    finally:
        loader.dispose()
