"""What a decision is made of: facts that went in, and each backend's verdict with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.errors import Code
from rlx.router.reason_text import detail

if TYPE_CHECKING:
    from rlx.origin import Origin

CODES: dict[str, Code] = {
    "disabled": Code(
        "its registration says `enabled: false`, or `RLX_DISABLE` masks it",
        "set `enabled: true` in an override, or take it out of RLX_DISABLE.",
    ),
    "not-requested": Code(
        "another device or backend was asked for", "ask for this one, or for a list: cuda,cpu."
    ),
    "oracle": Code(
        "it is the reference oracle, which is used only when it is named by id",
        "name it: RLX_BACKEND=reference.",
    ),
    "emission-only": Code(
        "it compiles for a target but does not run programs",
        "ask for a backend that dispatches; `rlx backends` shows which do.",
    ),
    "capability": Code(
        "it lacks a capability that the program or the caller needs",
        "ask for less, or choose a backend that has it: `rlx backends --why ID` lists them.",
    ),
    "coverage": Code(
        "it does not claim an operation, dtype, attribute or number of dimensions",
        "change the node that is named, or measure the backend: `rlx conform`.",
    ),
    "unavailable": Code(
        "a probe found that it can't work here",
        "install what the reason names; `rlx devices --refresh` probes again.",
    ),
    "software-device": Code(
        "a CPU emulates the device, and nobody asked for it",
        "ask for the device by name, if an emulation will do.",
    ),
    "open-failed": Code(
        "it was tried, and could not be opened, or not compile the program",
        "see the cause; `rlx devices --refresh` probes again.",
    ),
}
"""Every reason code, in the order in which the checks run: cheap to dear."""

SEE_REASON = "see the reason; `rlx devices --refresh` probes again."
ANOTHER_DEVICE = "ask for another device."
NOT_HERE = "ask for another device: "
"""What a fix begins with where the hardware is missing; what follows says which."""
EMPTY_ADVICE = (SEE_REASON, ANOTHER_DEVICE)
"""Fixes that say nothing without the reason beside them."""

VERDICTS: dict[str, Code] = {
    "selected": Code("nothing is against it, and it comes first in order", "nothing is wrong."),
    "rejected": Code("at least one check is against it", "see its reasons, each with a fix."),
    "not-reached": Code(
        "a backend before it was chosen, so that it was not looked at",
        "give it a lower rank, ask for it, or evaluate everything: `rlx explain --all`.",
    ),
}
"""What a decision says of each backend; the text shows a rejected one's reason codes instead."""


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
    """Why the factory failed, or compiling the program, when it was tried."""
    compiling: bool = False
    """True where it was opened, and failed to compile the program."""
    transient: bool = False
    """True when the reason may pass by itself (a timeout, a crash): it is not kept for good."""
    masks: tuple[str, ...] = ()
    """Where an engine was asked: the variables that hide such hardware from it."""


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
    """One of `VERDICTS`."""
    reasons: tuple[Reason, ...] = ()
    """The first failing check; all failing checks where everything was evaluated."""
