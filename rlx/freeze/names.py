"""Rules about names: identities, entry points, capability ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rlx.manifest.faults import LONGEST, show

if TYPE_CHECKING:
    from rlx.freeze.faults import Faults
    from rlx.origin import Origin

IDENTITY = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_DOTTED = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_ENTRY_POINT = re.compile(f"{_DOTTED}:{_DOTTED}", re.ASCII)
_CAPABILITY = re.compile(
    r"(?:(?P<vendor>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)/)?[a-z][a-z0-9]*(?:_[a-z0-9]+)*", re.ASCII
)
_PCI = re.compile(r"(?:[0-9a-f]{4})?:(?:[0-9a-f]{4})?(?::[0-9a-fx]{4})?", re.ASCII)
RESERVED = "auto"


def identity(what: str, name: str, origin: Origin, faults: Faults) -> None:
    """The name is words of a-z and 0-9, the first starting with a letter, joined by '-'."""
    if IDENTITY.fullmatch(name):
        return
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    fits = name.isascii() and len(slug) <= LONGEST and IDENTITY.fullmatch(slug)
    good = slug if fits else "my-name"
    faults.add(
        "identity",
        origin,
        f"{what} must be words of a-z and 0-9 joined by '-', letter first, got {show(name)}",
        f"write {good}.",
    )


def reserved(what: str, name: str, origin: Origin, faults: Faults) -> None:
    """The name is not `auto`: RLX_DEVICE=auto asks for nothing."""
    if name == RESERVED:
        faults.add(
            "reserved-name",
            origin,
            f"{what} is 'auto', which means unset in RLX_DEVICE and RLX_BACKEND",
            "choose another name.",
        )


def entry_point(what: str, text: str | None, origin: Origin, faults: Faults) -> None:
    """`module:attribute`, both sides dotted ASCII identifiers."""
    if text is not None and not _ENTRY_POINT.fullmatch(text):
        faults.add(
            "entry-point",
            origin,
            f"{what} must be module:attribute, in dotted ASCII identifiers, got {show(text)}",
            'write it as "package.module:function".',
        )


def capability(name: str, layer: str, origin: Origin, faults: Faults) -> None:
    """snake_case, with the vendor before a slash where a plugin declares it."""
    match = _CAPABILITY.fullmatch(name)
    if match is None:
        faults.add(
            "capability-name",
            origin,
            f"a capability's id must be snake_case or vendor/snake_case, got {show(name)}",
            "write it as dynamic_shapes or acme/fast_copy.",
        )
    elif layer == "plugin" and match["vendor"] is None:
        faults.add(
            "capability-name",
            origin,
            f"a plugin's capability must be vendor/name, got {show(name)}",
            f"write acme/{name}, with your own vendor's name.",
        )


def pci(pattern: str, origin: Origin, faults: Faults) -> None:
    """`[vendor]:[device][:class]`: four hexadecimal digits each, in a class x for any digit."""
    if not _PCI.fullmatch(pattern) or not pattern.strip(":x"):
        faults.add(
            "device-pci",
            origin,
            f"pci must be [vendor]:[device][:class], four hexadecimal digits each and x for any "
            f"digit of a class, got {show(pattern)}",
            'write it as "10de::03xx".',
        )
