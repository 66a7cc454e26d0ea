"""A precision that the program does not state is computed only where a backend says that it can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.program.precisions import others

if TYPE_CHECKING:
    from rlx.program import Requirements
    from rlx.registries import Registry
    from rlx.settings import Request

PREFIX = "computes_"
"""Of the capabilities that say so: `computes_f16`."""


def needed(
    registry: Registry, needs: Requirements, request: Request
) -> tuple[str, tuple[str, ...]] | None:
    """The capability that the precision asked for takes, and what the program states in its place.

    None where nothing, or what the program states, is asked for; where the policy lets a backend
    compute as the program says; and where no manifest declares the capability.
    """
    asked = request.precision
    if asked is None or request.precision_policy != "error":
        return None
    name = f"{PREFIX}{asked}"
    if all(one.id != name for one in registry.capabilities):
        return None
    stated = others((dtype for one in needs.signatures for _, dtype in one.types), asked)
    return (name, tuple(stated)) if stated else None
