"""All manifests in force, layer by layer: found, read, and with their coverage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.errors import ConfigError, Fault, printable
from rlx.manifest.discovery import LayerPath, StrPath, find
from rlx.manifest.faults import Faults
from rlx.manifest.files import read_bytes
from rlx.manifest.loader import Manifest, attach, checked, digest_of
from rlx.manifest.parser import parse
from rlx.manifest.trust import judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_HEAD = re.compile(rb"""(?m)^[ {"']*(?:apiVersion|kind)["']?[ \t]*:""")
"""Finds a manifest's first keys in bytes that are not YAML, to tell a broken one from another
tool's file."""
_FOREIGN = (
    "it has neither apiVersion nor kind. If it is meant for rlx, begin it with "
    "`apiVersion: rlx/v1` and `kind: Backends`"
)
_ELSEWHERE = (
    "it belongs to a checkout of rlx, and the rlx that runs was not installed from there. To have "
    "it in force, run `pip install -e .` in that checkout"
)
_MISNAMED = "rlx reads names that end in .yaml. If it is meant for rlx, rename it"


@dataclass(frozen=True, slots=True)
class Layers:
    """The manifests in layer order, the strongest last, and what was found but not loaded."""

    manifests: tuple[Manifest, ...]
    notes: tuple[str, ...] = ()


def discover(
    config: Sequence[StrPath] = (),
    only: bool = False,
    cwd: StrPath | None = None,
    *,
    environment: StrPath | None = None,
) -> Layers:
    """Find and read every layer; arguments as for `discovery.find`.

    The packaged `configs/operations.yaml` is not among them: who needs the vocabulary reads it
    with `read_file`. A named file may be of any kind.

    Raises:
        ConfigError: every fault of every file.
    """
    return load(find(config, only, cwd, environment=environment))


def load(paths: Iterable[LayerPath]) -> Layers:
    """Read the files of all layers.

    Raises:
        ConfigError: every fault of every file.
    """
    manifests: list[Manifest] = []
    notes: list[str] = []
    faults: list[Fault] = []
    for path in paths:
        reason = _MISNAMED if path.misnamed else _ELSEWHERE if path.packaged_elsewhere else None
        if reason is not None:
            notes.append(f"{path.shown} is not loaded: {reason}")
            continue
        try:
            found = _read(path)
        except ConfigError as error:
            faults.extend(error.faults)
        else:
            if found is None:
                notes.append(f"{path.shown} is not loaded: {_FOREIGN}")
            else:
                manifests.append(found)
    if faults:
        raise ConfigError(faults)
    return Layers(tuple(manifests), tuple(notes))


def _read(path: LayerPath) -> Manifest | None:
    """One layer's manifest; None for another tool's file that happens to have the name."""
    data = path.data
    if data is None:
        data = read_bytes(path.path, Faults(path.shown, path.layer))
    return manifest(data, path)


def manifest(data: bytes, path: LayerPath) -> Manifest | None:
    """The manifest that a file's bytes hold; None where they are another tool's.

    Raises:
        ConfigError: everything that is wrong with the first stage that fails.
    """
    try:
        document = parse(data, path.shown, path.layer)
    except ConfigError:
        if path.may_be_foreign and _HEAD.search(data) is None:
            return None
        raise
    if path.may_be_foreign and not any(document.node(key) for key in ("apiVersion", "kind")):
        return None
    made = checked(document, path.path, path.trusted, digest_of(data))
    if path.layer == "packaged" and path.shown.startswith("packaged "):
        return attach(made, "packaged ")
    made = attach(made, path.shown.removesuffix(printable(path.path.name)))
    return made if path.trusted else judged(made)
