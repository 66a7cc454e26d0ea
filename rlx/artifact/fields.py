"""Reading plain JSON strictly: each function takes a value and its place, and checks it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from rlx.errors import CorruptArtifact

if TYPE_CHECKING:
    from collections.abc import Callable

    T = TypeVar("T")

MOST_ITEMS = 100_000
_IDENTITY = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


def record(value: Any, where: str, keys: dict[str, Callable[[Any, str], Any]]) -> dict[str, Any]:
    """A mapping with exactly these keys, each value read by its function."""
    if not isinstance(value, dict):
        raise CorruptArtifact(f"{where} must be an object, got {_kind(value)}")
    for name in keys:
        if name not in value:
            raise CorruptArtifact(f"{where} has no {name}")
    for name in value:
        if name not in keys:
            raise CorruptArtifact(f"{where} has an unknown key {name!r:.60}")
    return {name: read(value[name], f"{where}.{name}") for name, read in keys.items()}


def items(read: Callable[[Any, str], T]) -> Callable[[Any, str], tuple[T, ...]]:
    """A list, each item read by the function."""

    def found(value: Any, where: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise CorruptArtifact(f"{where} must be a list, got {_kind(value)}")
        if len(value) > MOST_ITEMS:
            raise CorruptArtifact(f"{where} has {len(value)} items, it may have {MOST_ITEMS}")
        return tuple(read(item, f"{where}[{place}]") for place, item in enumerate(value))

    return found


def optional(read: Callable[[Any, str], T]) -> Callable[[Any, str], T | None]:
    """Null, or what the function reads."""
    return lambda value, where: None if value is None else read(value, where)


def text(value: Any, where: str) -> str:
    """Text that is not empty and can be encoded."""
    if not isinstance(value, str) or not value:
        raise CorruptArtifact(f"{where} must be text, got {_kind(value)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CorruptArtifact(f"{where} holds half a character") from error
    return value


def identity(value: Any, where: str) -> str:
    """A name as registrations have them: `cuda-jax`."""
    if not _IDENTITY.fullmatch(text(value, where)):
        raise CorruptArtifact(f"{where} is {value!r:.60}, which is no name of a registry")
    return str(value)


def digest(value: Any, where: str) -> str:
    """A SHA-256 in hexadecimal."""
    if not _DIGEST.fullmatch(text(value, where)):
        raise CorruptArtifact(f"{where} is no SHA-256")
    return str(value)


def whole(value: Any, where: str) -> int:
    """A whole number from 0 that fits in 63 bits."""
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise CorruptArtifact(f"{where} must be a whole number from 0, got {_kind(value)}")
    return value


def count(value: Any, where: str) -> int:
    """A whole number from 1."""
    if whole(value, where) == 0:
        raise CorruptArtifact(f"{where} must be at least 1, got 0")
    return int(value)


def _kind(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"the number {value}" if abs(value) < 10**9 else "a number"
    names = {
        dict: "an object",
        list: "a list",
        str: "text",
        bool: "true or false",
        float: "a number",
    }
    return names.get(type(value), "null")
