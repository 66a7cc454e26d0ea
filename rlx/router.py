"""The one selector: `decide()` is pure, and says why for every backend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.device import DeviceSpec
    from rlx.origin import Origin
    from rlx.program import Requirements
    from rlx.registries import Registry
    from rlx.settings import Request

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


Facts = "Mapping[tuple[str, int], Fact]"
"""By backend id and device index (0 where the request names none)."""


@dataclass(frozen=True, slots=True)
class Pending:
    """`decide` needs one more fact: probe this backend at this index, then ask again."""

    backend: str
    index: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a backend was not chosen: the first failing check, with the data its text is made from."""

    code: str
    data: tuple[tuple[str, Any], ...] = ()
    fix: str | None = None
    source: Origin | None = None

    @property
    def detail(self) -> str:
        """The text, made when it is read."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Candidate:
    """One backend's place in the decision."""

    backend: str
    device: str
    rank: int
    verdict: str
    """`selected`, `rejected` or `not-reached`."""
    reasons: tuple[Reason, ...] = ()
    """The first failing check; all failing checks where everything was evaluated."""


@dataclass(frozen=True, slots=True)
class Route:
    """The decision: what was selected, and why not each of the others.

    `backend` and `device` are None when nothing fits. `print(route)` explains.
    """

    backend: str | None
    device: DeviceSpec | None
    """The concrete spec to open: with its index."""
    candidates: tuple[Candidate, ...]
    request: Request
    degraded: bool = False
    """True when an implicitly chosen backend failed to open and a later one took its place."""
    program: Any = field(default=None, compare=False)


def decide(
    registry: Registry,
    requirements: Requirements,
    request: Request,
    facts: Mapping[tuple[str, int], Fact],
    *,
    evaluate_all: bool = False,
) -> Route | Pending:
    """Choose the lowest-rank backend without a reason against it; pure.

    Returns `Pending` when the answer depends on a probe that has not run yet. With
    `evaluate_all`, and when nothing fits, every check of every candidate is evaluated.
    """
    raise NotImplementedError
