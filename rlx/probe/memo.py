"""Probe results, kept for the process: what is known of a backend at a device index."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlx.probe import advice, kept
from rlx.probe.checks import FOREIGN, check
from rlx.probe.host import host
from rlx.probe.process import Answer
from rlx.router import Fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rlx.device import Device
    from rlx.registration import Probe, Registration

EMPTY: Mapping[str, Device] = {}
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


_Key = tuple[tuple["Probe", ...], tuple[bool, ...], int, tuple[tuple[str, str | None], ...]]
_slots: dict[_Key, _Slot] = {}
_generation = 0


def generation() -> int:
    """Counts the refreshes: what was derived from facts of an older one is out of date."""
    return _generation


def refresh() -> None:
    """Forget every result, in this process and on disk, and which modules were not found."""
    host.cache_clear()
    kept.forget()
    _forget()


def _forget() -> None:
    global _slots, _generation
    import importlib

    importlib.invalidate_caches()
    _slots = {}
    _generation += 1


if hasattr(os, "register_at_fork"):
    # Another thread may have held a slot's lock when the process forked.
    os.register_at_fork(after_in_child=_forget)


def values(names: Iterable[str]) -> tuple[str | None, ...]:
    """What these variables hold now; None where one is not set."""
    return tuple(map(os.environ.get, names))


def probe(registration: Registration, index: int = 0, device: Device | None = None) -> Fact:
    """What is known of a backend at a device index: its probes run once, then are remembered.

    They run in order and stop at the first reason. Never raises for what a probe does. A reason
    that may pass by itself (a timeout, a crash) is asked for again after `TRANSIENT_SECONDS`.
    `device` is what its registry declares of the backend's device: the variables that hide such
    hardware, of which another value is another question, and what it is on a PCI bus.
    """
    probes = registration.probes
    indexed = any(one.kind == "call" for one in probes)
    names = device.masks if device is not None else ()
    outcome = _remembered(probes, index if indexed else 0, names) if probes else _Outcome(Answer())
    answer = outcome.answer
    ran = probes if outcome.failed is None else probes[: outcome.failed + 1]
    masks = names if any(one.kind in FOREIGN for one in ran) else ()
    if outcome.failed is not None:
        failed = probes[outcome.failed]
        return Fact(
            answer.reason,
            fix=advice.fix(registration, failed, answer, device, host()),
            source=failed.origin if failed.origin.path else registration.origin,
            transient=answer.transient,
            masks=masks,
        )
    if index and not indexed:
        name = registration.device
        return Fact(
            f"there is no {name}:{index}: {registration.id} has only {name}:0",
            fix=f"ask for {name}.",
            source=registration.origin,
        )
    return Fact(software=answer.software, detail=answer.detail, masks=masks)


def facts_for(
    registrations: Iterable[Registration], index: int = 0, devices: Mapping[str, Device] = EMPTY
) -> dict[tuple[str, int], Fact]:
    """The facts of many backends, on the devices of these ids; children run side by side."""
    from concurrent.futures import ThreadPoolExecutor

    asked = tuple(registrations)
    with ThreadPoolExecutor(
        min(8, max(2, os.cpu_count() or 2)), thread_name_prefix="rlx-probe"
    ) as pool:
        found = list(pool.map(lambda one: probe(one, index, devices.get(one.device)), asked))
    return {(one.id, index): fact for one, fact in zip(asked, found, strict=True)}


def _remembered(probes: tuple[Probe, ...], index: int, names: tuple[str, ...]) -> _Outcome:
    foreign = any(one.kind in FOREIGN for one in probes)
    masked = tuple(zip(names, values(names), strict=True)) if foreign else ()
    key = (probes, tuple([one.trusted for one in probes]), index, masked)
    slot = _slots.setdefault(key, _Slot())
    with slot.lock:
        if slot.outcome is None or slot.outcome.until <= time.monotonic():
            slot.outcome = _run(probes, index)
        return slot.outcome


def _run(probes: tuple[Probe, ...], index: int) -> _Outcome:
    software, details = False, []
    for position, one in enumerate(probes):
        answer = kept.answer(one, index, check)
        if answer.reason is not None:
            until = time.monotonic() + TRANSIENT_SECONDS if answer.transient else float("inf")
            return _Outcome(answer, position, until)
        software = software or answer.software
        details += [answer.detail] if answer.detail else []
    return _Outcome(Answer(software=software, detail="; ".join(details)))
