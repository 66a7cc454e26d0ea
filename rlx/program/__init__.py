"""Programs: reading ONNX into frozen records, what they require, and writing them for engines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rlx.program.types import (
    CANONICAL_OPSET,
    Attribute,
    Block,
    Node,
    OperandType,
    Requirements,
    Signature,
    Value,
    ValueType,
)

if TYPE_CHECKING:
    from rlx.program.loading import load
    from rlx.program.program import Program

__all__ = [
    "CANONICAL_OPSET",
    "Attribute",
    "Block",
    "Node",
    "OperandType",
    "Program",
    "Requirements",
    "Signature",
    "Value",
    "ValueType",
    "load",
]


def __getattr__(name: str) -> object:
    """`Program` and `load` need numpy and onnx, so they are imported when first asked for."""
    homes = {"Program": "rlx.program.program", "load": "rlx.program.loading"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(homes[name]), name)
    return found
