"""Live probes: a tiny program with a known answer on each backend, in a child that can be killed.

What a cheap probe can't see shows here: a library that lists a device on which nothing runs.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.errors import printable
from rlx.freeze.digest import registration_digest
from rlx.probe import circumstances, store
from rlx.probe.process import Answer, converse, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rlx.registration import Registration
    from rlx.registries import Registry

CHILD = Path(__file__).with_name("live_child.py")
KIND = "live"
KEPT_SECONDS = 7 * 86400.0
"""How long it is believed that a backend ran, while nothing that it depends on has changed."""
TIMEOUT = 120.0
"""Seconds for one backend: an engine's import, its first kernels, its compiler."""
TEXTS = ("program", "device", "version", "reason", "fix", "untried")
MOST = 4
"""Devices that are tried side by side; backends of one device share it, and take turns."""


@dataclass(frozen=True, slots=True)
class Live:
    """How a tiny program went on one backend."""

    program: str | None = None
    """Its name; None: none was run to its end."""
    device: str | None = None
    """The device that was used, read from the live engine."""
    version: str | None = None
    """The engine's, as it reports it."""
    seconds: float | None = None
    """From opening to the second answer, imports included."""
    reason: str | None = None
    """Why it failed."""
    fix: str | None = None
    """What the error says to do."""
    untried: str | None = None
    """Why nothing was run: no fault of the device."""
    kept: bool = False
    """True when it ran at an earlier time, and nothing has changed since."""


def run(
    registry: Registry,
    backends: Iterable[Registration],
    config: Iterable[str] = (),
    *,
    timeout: float = TIMEOUT,
    report: Callable[[str, int, int], None] = lambda _what, _done, _total: None,
) -> dict[str, Live]:
    """Try each backend on index 0 of its device, by id.

    `config` are the files that the registry was loaded with, above the layers that are found.
    `report` is told a backend's id, how many are done, and how many there are. What has run is
    kept on disk; what has failed is tried again each time. Never raises for what an engine does.
    """
    groups: dict[str, list[Registration]] = {}
    for one in backends:
        groups.setdefault(one.device, []).append(one)
    total, files = sum(map(len, groups.values())), [*map(os.fspath, config)]
    found: dict[str, Live] = {}

    def turns(group: list[Registration]) -> None:
        for one in group:
            report(one.id, len(found), total)
            found[one.id] = _kept(registry, one, files, timeout)

    with ThreadPoolExecutor(min(MOST, os.cpu_count() or 1), "rlx-live") as pool:
        for done in [pool.submit(turns, group) for group in groups.values()]:
            done.result()
    return found


def _kept(registry: Registry, one: Registration, config: list[str], timeout: float) -> Live:
    """As it is kept on disk, else as it goes now, which is then kept where it went well."""
    calls = [probe.values[0] for probe in one.probes if probe.kind == "call"]
    here = circumstances.digest(*calls, *([one.factory] if one.factory else []))
    key = store.digest(registration_digest(one), registry.content.vocabulary_digest, here)
    old = store.read(KIND, key, KEPT_SECONDS)
    known = None if old is None else _read(old)
    if known is not None and known.program is not None and known.device == one.device:
        return replace(known, kept=True)
    went = _try(one, config, timeout)
    if went.program is not None:
        store.write(KIND, key, asdict(went))
    return went


def _try(one: Registration, config: list[str], timeout: float) -> Live:
    what = f"a tiny program on {one.id}"
    own = registration_digest(one)
    request = {"kind": KIND, "backend": one.id, "digest": own, "config": config}
    said = converse(CHILD, what, request, timeout)
    if isinstance(said, Answer):
        return Live(reason=said.reason)
    try:
        went = _read(json.loads(said))
    except (ValueError, RecursionError):
        went = None
    if went is None:
        return Live(reason=f"{what} answered with garbage: {said[:60]!r}")
    if went.program is not None and went.device != one.device:
        used = f"it ran on {printable(str(went.device))}, {one.device} was asked for"
        return replace(went, program=None, reason=used)
    return went


def _read(data: Mapping[str, Any]) -> Live | None:
    """What a child or a file says; None: it is not what `live_child` says."""
    if not isinstance(data, dict):
        return None
    texts = {key: data.get(key) for key in TEXTS}
    seconds = data.get("seconds")
    if not all(value is None or isinstance(value, str) for value in texts.values()):
        return None
    if seconds is not None and type(seconds) not in (int, float):
        return None
    if sum(texts[key] is not None for key in ("program", "reason", "untried")) != 1:
        return None
    short = [None if value is None else shorten(value) for value in texts.values()]
    program, device, version, reason, fix, untried = short
    return Live(program, device, version, seconds, reason, fix, untried)
