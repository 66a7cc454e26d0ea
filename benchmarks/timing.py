"""Timing that can be trusted on a noisy machine: candidates in turn, the minimum of many rounds."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def side_by_side(
    candidates: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 15,
    seconds: float = 0.02,
) -> dict[str, float]:
    """Seconds per call of each candidate: the minimum over rounds in which all take turns.

    Each candidate is called once to warm up, then so often per round that a round of it takes
    about `seconds`; the loop's own cost is measured the same way and taken off.
    """
    loops = {name: _loops(function, seconds) for name, function in candidates.items()}
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, function in candidates.items():
            best[name] = min(best[name], _time(function, loops[name]))
    empty = min(_time(_nothing, 100_000) for _ in range(5))
    return {name: max(value - empty, 0.0) for name, value in best.items()}


def _nothing() -> None:
    """An empty call, whose cost is taken off."""


def _loops(function: Callable[[], object], seconds: float) -> int:
    function()
    once = _time(function, 1)
    return max(1, min(1_000_000, int(seconds / max(once, 1e-8))))


def _time(function: Callable[[], object], loops: int) -> float:
    repeat = [None] * loops
    began = time.perf_counter()
    for _ in repeat:
        function()
    return (time.perf_counter() - began) / loops


def processes(
    scripts: Mapping[str, Sequence[str]], *, rounds: int = 20, cwd: str | None = None
) -> dict[str, float]:
    """Seconds that a fresh Python process takes per script: the minimum over rounds, in turn."""
    best = dict.fromkeys(scripts, float("inf"))
    for _ in range(rounds):
        for name, arguments in scripts.items():
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=cwd
            )
            best[name] = min(best[name], time.perf_counter() - began)
    return best
