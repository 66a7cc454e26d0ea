"""The one selector: `decide()` is pure, and says why for every backend."""

from rlx.router.checks import NO_FACT
from rlx.router.decision import Route, decide
from rlx.router.narrowing import Pending
from rlx.router.verdicts import CODES, Candidate, Fact, Reason

__all__ = ["CODES", "NO_FACT", "Candidate", "Fact", "Pending", "Reason", "Route", "decide"]
