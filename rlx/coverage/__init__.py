"""Coverage: which backends claim all that a program needs, and what one lacks."""

from rlx.coverage.table import CoverageTable

__all__ = ["CoverageTable"]
