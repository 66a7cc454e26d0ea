"""What a literal is: one node, its inputs, and what a person can check must come out."""

from __future__ import annotations

from typing import Any

Array = Any
Literal = tuple[str, dict[str, Any], list[Any], Any]
"""The operation, its attributes, the inputs (None: left out), and the output or the outputs."""
