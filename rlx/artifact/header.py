"""The header of an artifact: what it is for, what made it, and what its parts are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.artifact.fields import (
    count,
    digest,
    identity,
    items,
    optional,
    record,
    text,
    whole,
)
from rlx.errors import CorruptArtifact
from rlx.program.types import Value, ValueType

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = 1
MOST_PARTS = 64
_PART = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}", re.ASCII)
_KINDS = ("tensor", "sequence", "optional", "map")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the payload."""

    name: str
    length: int
    sha256: str
    """Of its content, as hexadecimal."""


@dataclass(frozen=True, slots=True)
class Header:
    """All that is known of an artifact without looking into its payload."""

    backend: str
    """The id of the registration whose compiler made it."""
    device: str
    target: str
    payload_format: str
    toolchain: str
    """The compiler's name and version."""
    precision: str | None
    registration: str
    """SHA-256 of what the payload depends on in the registration: see `rlx.artifact.facets`."""
    registry: str
    """SHA-256 of the whole registry, for the record: a rank may change and nothing is stale."""
    program: str
    """The program's digest."""
    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    operations: tuple[tuple[str, int], ...]
    """How many nodes of each operation the program has, in name order."""
    parts: tuple[Part, ...]

    def to_bytes(self) -> bytes:
        """Canonical JSON: sorted keys, no blanks, ASCII."""
        plain: dict[str, Any] = {
            name: getattr(self, name) for name in self.__slots__ if name not in _SHAPED
        }
        plain["version"] = VERSION
        for side in ("inputs", "outputs"):
            plain[side] = [
                {
                    "name": one.name,
                    "kind": one.type.kind,
                    "dtype": one.type.dtype,
                    "shape": None if one.type.shape is None else list(one.type.shape),
                }
                for one in getattr(self, side)
            ]
        plain["operations"] = [
            {"operation": name, "nodes": nodes} for name, nodes in self.operations
        ]
        plain["parts"] = [
            {"name": part.name, "length": part.length, "sha256": part.sha256} for part in self.parts
        ]
        return _canonical(plain)

    @classmethod
    def from_bytes(cls, data: bytes) -> Header:
        """The header that these bytes are.

        Raises:
            CorruptArtifact: they are not exactly what `to_bytes` makes of one.
        """
        try:
            plain = json.loads(data.decode("ascii"))
            if _canonical(plain) != data:
                raise CorruptArtifact("its header is not in canonical form")
        except (ValueError, RecursionError) as error:
            if isinstance(error, CorruptArtifact):
                raise
            raise CorruptArtifact("its header is not JSON in ASCII") from error
        return _header(plain)


_SHAPED = frozenset({"inputs", "outputs", "operations", "parts"})


def _canonical(plain: Any) -> bytes:
    return json.dumps(
        plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")


def _header(plain: Any) -> Header:
    version = plain.get("version") if isinstance(plain, dict) else None
    if type(version) is int and version > VERSION:
        raise CorruptArtifact(
            f"its form is of version {version}, this rlx reads version {VERSION}",
            fix="use a newer rlx, or build it again with this one.",
        )
    found = record(plain, "the header", _HEADER)
    del found["version"]
    made = Header(**found)
    names = [part.name for part in made.parts]
    if names != sorted(set(names)) or not 1 <= len(names) <= MOST_PARTS:
        raise CorruptArtifact(f"it must have 1 to {MOST_PARTS} parts, in the order of their names")
    if list(made.operations) != sorted(dict(made.operations).items()):
        raise CorruptArtifact("its operations are not in the order of their names")
    for side in (made.inputs, made.outputs):
        if len({value.name for value in side}) != len(side):
            raise CorruptArtifact("a name is there twice among its inputs or its outputs")
    return made


def _version(value: Any, where: str) -> int:
    if whole(value, where) != VERSION:
        raise CorruptArtifact(f"{where} must be {VERSION}, got {value!r:.40}")
    return VERSION


def _part(value: Any, where: str) -> Part:
    found = record(value, where, {"name": text, "length": whole, "sha256": digest})
    if not _PART.fullmatch(found["name"]):
        raise CorruptArtifact(f"{where}.name is {found['name']!r:.60}, which is no part's name")
    return Part(**found)


def _operation(value: Any, where: str) -> tuple[str, int]:
    found = record(value, where, {"operation": text, "nodes": count})
    return found["operation"], found["nodes"]


def _value(value: Any, where: str) -> Value:
    found = record(value, where, {"name": text, "kind": text, "dtype": text, "shape": _shape})
    if found["kind"] not in _KINDS:
        raise CorruptArtifact(f"{where}.kind is {found['kind']!r:.60}, not one of {_KINDS}")
    return Value(found["name"], ValueType(found["dtype"], found["shape"], found["kind"]))


def _shape(value: Any, where: str) -> tuple[int | str | None, ...] | None:
    if value is None:
        return None
    return items(_size)(value, where)


def _size(value: Any, where: str) -> int | str | None:
    if value is None:
        return None
    return text(value, where) if isinstance(value, str) else whole(value, where)


_HEADER: dict[str, Callable[[Any, str], Any]] = {
    "version": _version,
    "backend": identity,
    "device": identity,
    "target": identity,
    "payload_format": identity,
    "toolchain": text,
    "precision": optional(text),
    "registration": digest,
    "registry": digest,
    "program": digest,
    "name": text,
    "inputs": items(_value),
    "outputs": items(_value),
    "operations": items(_operation),
    "parts": items(_part),
}
