"""Inputs and outputs of a compiled program: checked against what the program declares."""

from rlx.inputs.generated import Door

__all__ = ["Door"]
