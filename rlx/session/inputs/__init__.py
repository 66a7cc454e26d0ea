"""Inputs and outputs of a compiled program: checked against what the program declares."""

from rlx.session.inputs.generated import Door

__all__ = ["Door"]
