"""Probe results, kept for the process: what is known of a backend at a device index."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlx.probe.checks import FOREIGN, check
from rlx.probe.process import Answer
from rlx.router import Fact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlx.registration import Probe, Registration

MASKS = (
    "CUDA_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HIP_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "ONEAPI_DEVICE_SELECTOR",
    "ROCR_VISIBLE_DEVICES",
    "TPU_VISIBLE_CHIPS",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "ZE_AFFINITY_MASK",
)
"""The variables by which engines hide devices: another value is another result."""
TRANSIENT_SECONDS = 30.0
"""How long a reason that may pass by itself is kept."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a set of probes found; `failed` is the position of the first that gave a reason."""

    answer: Answer
    failed: int | None = None
    until: float = float("inf")


@dataclass(slots=True)
class _Slot:
    """The place of one outcome; whoever holds its lock runs the probes, the others wait."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    outcome: _Outcome | None = None


_Key = tuple[tuple["Probe", ...], tuple[bool, ...], int, tuple[str | None, ...]]
_slots: dict[_Key, _Slot] = {}
_generation = 0


def generation() -> int:
    """Counts the refreshes: what was derived from facts of an older one is out of date."""
    return _generation


def refresh() -> None:
    """Forget every result, also of modules that were not found; the next question probes again."""
    global _slots, _generation
    import importlib

    importlib.invalidate_caches()
    _slots = {}
    _generation += 1


if hasattr(os, "register_at_fork"):
    # Another thread may have held a slot's lock when the process forked.
    os.register_at_fork(after_in_child=refresh)


def masks() -> tuple[str | None, ...]:
    """The device masks now in force."""
    read = os.environ.get
    return tuple([read(name) for name in MASKS])


def probe(registration: Registration, index: int = 0) -> Fact:
    """What is known of a backend at a device index: its probes run once, then are remembered.

    They run in order and stop at the first reason. Never raises for what a probe does. A reason
    that may pass by itself (a timeout, a crash) is asked for again after `TRANSIENT_SECONDS`.
    """
    probes = registration.probes
    indexed = any(one.kind == "call" for one in probes)
    outcome = _remembered(probes, index if indexed else 0) if probes else _Outcome(Answer())
    answer = outcome.answer
    ran = probes if outcome.failed is None else probes[: outcome.failed + 1]
    masked = any(one.kind in FOREIGN for one in ran)
    if outcome.failed is not None:
        failed = probes[outcome.failed]
        return Fact(
            answer.reason,
            fix=_fix(registration, failed, answer),
            source=failed.origin if failed.origin.path else registration.origin,
            transient=answer.transient,
            masked=masked,
        )
    if index and not indexed:
        device = registration.device
        return Fact(
            f"there is no {device}:{index}: {registration.id} has only {device}:0",
            fix=f"ask for {device}.",
            source=registration.origin,
        )
    return Fact(software=answer.software, detail=answer.detail, masked=masked)


def facts_for(registrations: Iterable[Registration], index: int = 0) -> dict[tuple[str, int], Fact]:
    """The facts of many backends; children run side by side."""
    from concurrent.futures import ThreadPoolExecutor

    asked = tuple(registrations)
    with ThreadPoolExecutor(max_workers=8, thread_name_prefix="rlx-probe") as pool:
        found = list(pool.map(lambda one: probe(one, index), asked))
    return {(one.id, index): fact for one, fact in zip(asked, found, strict=True)}


def _remembered(probes: tuple[Probe, ...], index: int) -> _Outcome:
    foreign = any(one.kind in FOREIGN for one in probes)
    key = (probes, tuple([one.trusted for one in probes]), index, masks() if foreign else ())
    slot = _slots.setdefault(key, _Slot())
    with slot.lock:
        if slot.outcome is None or slot.outcome.until <= time.monotonic():
            slot.outcome = _run(probes, index)
        return slot.outcome


def _run(probes: tuple[Probe, ...], index: int) -> _Outcome:
    software, details = False, []
    for position, one in enumerate(probes):
        answer = check(one, index)
        if answer.reason is not None:
            until = time.monotonic() + TRANSIENT_SECONDS if answer.transient else float("inf")
            return _Outcome(answer, position, until)
        software = software or answer.software
        details += [answer.detail] if answer.detail else []
    return _Outcome(Answer(software=software, detail="; ".join(details)))


def _fix(registration: Registration, failed: Probe, answer: Answer) -> str | None:
    if failed.kind in FOREIGN and not failed.trusted:
        return f"read {failed.origin.path}, then run `rlx trust {failed.origin.path}`."
    if answer.transient:
        return "probe again with `rlx devices --refresh`, or raise the probe's timeout."
    if failed.kind == "call":
        # The engine is there where an earlier probe has found it: installing it is no advice.
        found = any(one.kind in ("module", "library") for one in registration.probes)
        return None if found else registration.install
    return registration.install if failed.kind in ("module", "library") else None
