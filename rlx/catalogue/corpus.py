"""Examples from the example manifests of the tests: the smallest that has just one code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import resources
from rlx.catalogue import Example
from rlx.errors import ConfigError, Fault, printable
from rlx.manifest import read_file
from rlx.registries import freeze

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rlx.registries import Registry

MANIFESTS = resources.PACKAGE.parent / "tests" / "manifests"


def examples() -> dict[tuple[str, str], Example]:
    """The best example of each (kind, code) that occurs."""
    best: dict[tuple[str, str], tuple[tuple[int, int, str], Example]] = {}
    for kind, path, faults in _read():
        data = path.read_bytes()
        for fault in faults:
            whole = b"\nkind: " in data  # more telling than a file that is hardly a manifest
            rating = (len({one.code for one in faults}) + len(faults) - whole, len(data), path.name)
            if (kind, fault.code) not in best or rating < best[kind, fault.code][0]:
                best[kind, fault.code] = rating, Example("yaml", _visible(data), _message(fault))
    return {key: example for key, (_, example) in best.items()}


def _read() -> Iterator[tuple[str, Path, tuple[Fault, ...]]]:
    for path in sorted(MANIFESTS.glob("invalid/s*/*.yaml")):
        try:
            read_file(path, shown="backends.yaml")
        except ConfigError as error:
            yield "manifest", path, error.faults
    packaged = read_file(MANIFESTS / "rules" / "base" / "backends.yaml", "packaged")
    base = freeze([packaged])
    for path in sorted(MANIFESTS.glob("rules/*.yaml")):
        yield "rule", path, _broken(path, base)


def _broken(path: Path, base: Registry) -> tuple[Fault, ...]:
    try:
        manifest = read_file(path, "argument", shown="backends.yaml")
        return freeze([manifest], base=base).warnings
    except ConfigError as error:
        return error.faults


def _message(fault: Fault) -> str:
    root = f"{MANIFESTS / 'rules' / 'base'}/"
    return str(fault).replace(root, "packaged ")


def _visible(data: bytes) -> str:
    """The manifest as text; bytes that no one sees become escapes."""
    for encoding in ("utf-8", "ascii"):
        try:
            text = data.decode(encoding, "strict" if encoding == "utf-8" else "backslashreplace")
        except UnicodeDecodeError:
            continue
        return "\n".join(map(printable, text.rstrip("\n").split("\n")))
    raise AssertionError("ASCII with escapes reads everything")
