"""Capabilities that are needed and that a backend does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.registration import Registration
    from rlx.registries import Registry


def lacking(registry: Registry, names: tuple[str, ...], one: Registration) -> tuple[str, ...]:
    """Those of the capabilities that a manifest declares and the backend does not have."""
    declared = {capability.id for capability in registry.capabilities}
    return tuple(name for name in names if name in declared and name not in one.capabilities)
