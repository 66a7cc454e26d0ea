"""Lowering: an operation replaced by its function body, where a backend does not claim it."""

from rlx.operations.lowering.library import Library, library_of
from rlx.operations.lowering.planning import Plan, plan
from rlx.operations.lowering.resolving import resolved
from rlx.operations.lowering.unit import Unit, unit_of
from rlx.operations.lowering.writing import lowered

__all__ = [
    "Library",
    "Plan",
    "Unit",
    "library_of",
    "lowered",
    "plan",
    "resolved",
    "unit_of",
]
