"""The packaged vocabulary: compiled where that is up to date, else from its YAML."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from rlx import resources
from rlx.operations import encoding

if TYPE_CHECKING:
    from pathlib import Path

    from rlx.operations import Vocabulary

SOURCE = "operations.yaml"
COMPILED = "operations.json"


def packaged_vocabulary() -> Vocabulary:
    """The operations of `configs/operations.yaml`.

    Raises:
        ConfigError: the file was edited and is broken.
    """
    folder = resources.configs()
    return _vocabulary(folder, sha256((folder / SOURCE).read_bytes()).hexdigest())


@lru_cache(maxsize=2)
def _vocabulary(folder: Path, source: str) -> Vocabulary:
    from json import loads

    compiled = folder / COMPILED
    if compiled.is_file():
        data = loads(compiled.read_bytes())
        if data["source"] == source:
            return encoding.from_json(data)
    return parsed(folder)


def parsed(folder: Path) -> Vocabulary:
    """The vocabulary from its YAML."""
    from rlx.errors import ConfigError
    from rlx.freeze import operations
    from rlx.freeze.content import Content
    from rlx.freeze.faults import Faults, Node
    from rlx.manifest.loader import read_file

    faults = Faults()
    node = Node(read_file(folder / SOURCE, "packaged", shown=f"packaged {SOURCE}"))
    made = operations.vocabulary([node], Content(), faults)
    if faults.found:
        raise ConfigError(faults.in_order([node.manifest.path]))
    return made
