"""Inputs and outputs of a compiled program: checked against what the program declares."""

from rlx.session.inputs.generated import Door
from rlx.session.inputs.native import Native

__all__ = ["Door", "Native"]
