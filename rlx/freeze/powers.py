"""What a manifest names that a project's file may only name once it is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.freeze.faults import Node, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.manifest.loader import Manifest
    from rlx.origin import Origin

_RUN = ("factory", "compiler", "materializer")
_OVERRIDDEN = ("dispatches", "capabilities")


@dataclass(frozen=True, slots=True)
class Power:
    """One thing that trust allows."""

    backend: str
    """The backend's id; for a device or a capability, empty."""
    what: str
    """`factory`, `compiler`, `materializer`, `call`, `library`, `module`, `path`, `option` …"""
    value: str
    origin: Origin


def powers(manifest: Manifest) -> tuple[Power, ...]:
    """All of them, in file order."""
    if manifest.kind != "Backends":
        return (Power("", "kind", manifest.kind, manifest.origin("kind")),)
    found = [*_declared(Node(manifest)), *_registered(manifest), *_overridden(manifest)]
    return tuple(sorted(found, key=lambda one: (one.origin.line, one.origin.column)))


def _declared(node: Node) -> Iterator[Power]:
    for section, what in (("devices", "device"), ("capabilities", "capability")):
        for index, one in enumerate(getattr(node.model, section)):
            yield Power("", what, one.id, node.at(section, index))


def _registered(manifest: Manifest) -> Iterator[Power]:
    for index, one in enumerate(Node(manifest).model.backends):
        node = Node(manifest, ("backends", index))
        yield Power(one.id, "backend", f"on {one.device}", node.at())
        for name in _RUN:
            if getattr(one, name) is not None:
                yield Power(one.id, name, getattr(one, name), node.at(name))
        for name in ("coverage", "compiles"):
            if isinstance(getattr(one, name), str):
                yield Power(one.id, name, getattr(one, name), node.at(name))
        yield from _common(one, node)


def _overridden(manifest: Manifest) -> Iterator[Power]:
    for index, one in enumerate(Node(manifest).model.overrides):
        node = Node(manifest, ("overrides", index))
        for name in _OVERRIDDEN:
            if getattr(one, name) is not None:
                yield Power(one.id, name, show(getattr(one, name)), node.at(name))
        if one.coverage is not None:
            claims = one.coverage if isinstance(one.coverage, str) else "written in the file"
            yield Power(one.id, "coverage", claims, node.at("coverage"))
        yield from _common(one, node)


def _common(one: Any, node: Node) -> Iterator[Power]:
    for index, probe in enumerate(one.probes or ()):
        for kind in ("call", "library", "module", "path"):
            value = getattr(probe, kind)
            if value is not None:
                yield Power(one.id, kind, value, node.at("probes", index, kind))
    for key, value in (one.options or {}).items():
        yield Power(one.id, "option", f"{key}: {show(value)}", node.at("options", key))
    if one.install is not None:
        yield Power(one.id, "install", one.install, node.at("install"))
