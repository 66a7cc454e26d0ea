"""What a decision is made of: facts that went in, and each backend's verdict with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.router.reason_text import detail

if TYPE_CHECKING:
    from rlx.origin import Origin

CODES = (
    "disabled",
    "not-requested",
    "oracle",
    "emission-only",
    "capability",
    "coverage",
    "unavailable",
    "software-device",
    "open-failed",
)
"""Every reason code, in the order in which the checks run: cheap to dear."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of one backend at one device index."""

    reason: str | None = None
    """None: it works here; else why it can't."""
    software: bool = False
    """True when a CPU emulates the device."""
    detail: str = ""
    fix: str | None = None
    source: Origin | None = None
    """The probe's place in its manifest."""
    open_failure: str | None = None
    """Why the factory failed, when it was tried."""
    transient: bool = False
    """True when the reason may pass by itself (a timeout, a crash): it is not kept for good."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a backend was not chosen: one failing check, with the data its text is made from."""

    code: str
    data: tuple[tuple[str, Any], ...] = ()
    fix: str | None = None
    source: Origin | None = None

    @property
    def detail(self) -> str:
        """The text, made when it is read."""
        return detail(self.code, dict(self.data))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One backend's place in the decision."""

    backend: str
    device: str
    """The device spec that was looked at: with the index, where the request names one."""
    rank: int
    verdict: str
    """`selected`, `rejected` or `not-reached`."""
    reasons: tuple[Reason, ...] = ()
    """The first failing check; all failing checks where everything was evaluated."""
