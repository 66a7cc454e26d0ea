"""What a manifest names as `module:attribute`, imported."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from typing import Any


def resolve(reference: str) -> Any:
    """Import what `module:attribute` names.

    Raises:
        ImportError, AttributeError: there is no such thing; and whatever the module raises.
    """
    module, _, attributes = reference.partition(":")
    found: Any = import_module(module)
    for attribute in attributes.split("."):
        found = getattr(found, attribute)
    return found
