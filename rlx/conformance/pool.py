"""A pool of child processes that run trials of one backend; one that dies is replaced.

A trial that ends its child, or does not end in time, is run once more, alone in a fresh child: a
crash may be the late effect of an earlier trial. What then happens is its outcome.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from multiprocessing.connection import Connection
from queue import SimpleQueue
from types import TracebackType
from typing import Any

from rlx.conformance import worker
from rlx.conformance.trial import CRASH, HANG, Outcome, Trial
from rlx.errors import OpenFailed, printable

BATCH = 16
"""Trials that are sent to a child at once."""
START = 180.0
"""Seconds that a child may take to import its engine and open it."""
LIMIT = 30.0
"""Seconds that one trial may take; the first in a child may take `START`."""
EMULATED = 20.0
"""How many times as long it may take on a device that a CPU emulates: networks of the suite do."""


class Pool:
    """Children that run trials of one backend; a context manager."""

    def __init__(
        self, backend: str, config: Sequence[str] = (), jobs: int = 1, limit: float = LIMIT
    ):
        self.backend = backend
        self._config = tuple(map(str, config))
        self._limit = limit
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix=f"conform-{backend}")
        self._idle: SimpleQueue[_Child | None] = SimpleQueue()
        self._children: list[_Child] = []
        self._interrupted = False
        for _ in range(jobs):
            self._idle.put(None)
        self.flukes: list[str] = []
        """Trials that ended their child once, and not when they were run again alone."""
        self.version = ""

    def __enter__(self) -> Pool:
        child = self._start()
        self.version = child.version
        self._idle.get()
        self._idle.put(child)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:  # nobody waits for what is still running
            self._interrupted = True
            for child in self._children:
                child.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in self._children:
            child.end()

    def begin(
        self, trials: Sequence[Trial], way: str = worker.NATIVE
    ) -> Callable[[], list[Outcome]]:
        """Start these trials; what is returned waits for their outcomes, in the same order."""
        batches = [trials[start : start + BATCH] for start in range(0, len(trials), BATCH)]
        futures = [self._threads.submit(self._run, way, batch) for batch in batches]
        return lambda: [outcome for future in futures for outcome in future.result()]

    def begin_routed(self, trials: Sequence[Trial]) -> Callable[[], list[Outcome]]:
        """As `begin`, but as a user would run them: by a session that names the backend."""
        return self.begin(trials, worker.ROUTED)

    def attempt(self, trial: Trial) -> Outcome:
        """Run one trial."""
        return self.begin([trial])()[0]

    def _run(self, way: str, batch: Sequence[Trial]) -> list[Outcome]:
        found: list[Outcome] = []
        child = self._idle.get()
        try:
            while len(found) < len(batch):
                child = child or self._start()
                found += child.outcomes(way, batch[len(found) :])
                if self._interrupted:
                    raise CancelledError
                if not child.alive and found[-1].status in (CRASH, HANG):
                    child = self._start()
                    again = next(child.outcomes(way, [batch[len(found) - 1]]))
                    if again.status not in (CRASH, HANG):
                        self.flukes.append(f"{batch[len(found) - 1].name}: {found[-1].detail}")
                    found[-1] = again
                if not child.alive:
                    child = None
        finally:
            self._idle.put(child if child is not None and child.alive else None)
        return found

    def _start(self) -> _Child:
        child = _Child(self.backend, self._config, self._limit)
        self._children.append(child)
        return child


class _Child:
    """One child process, its end of the pipe, and the file of what its engine prints.

    The file has no name: it is gone with the last process that holds it, however that ends.
    """

    def __init__(self, backend: str, config: tuple[str, ...], limit: float):
        self._limit = limit
        self._ran = 0
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        noise = _handed(self._noise.fileno())
        arguments = (other, backend, config, noise)
        self._process = context.Process(target=worker.serve, args=arguments, daemon=True)
        self._process.start()
        other.close()
        noise.close()
        self.alive = True
        answer = self._answer(START)
        if isinstance(answer, Outcome):
            raise OpenFailed(f"opening {backend} in a child process failed: {answer.detail}")
        opened, text, emulated = answer
        if not opened:
            self.end()
            said, fix = text
            raise OpenFailed(f"opening {backend} in a child process failed: {said}", fix=fix)
        self.version: str = text
        if emulated:
            self._limit *= EMULATED

    def outcomes(self, way: str, batch: Sequence[Trial]) -> Iterator[Outcome]:
        """The outcomes of a batch, until the child has died of one."""
        self._pipe.send((way, batch))
        for _ in batch:
            answer = self._answer(self._limit if self._ran else max(START, self._limit))
            self._ran += 1
            if isinstance(answer, Outcome):
                yield answer
                return
            yield Outcome(*answer)

    def _answer(self, limit: float) -> Any:
        """What the child says; an `Outcome` where it died, or was killed for its silence."""
        try:
            if self._pipe.poll(limit):
                return self._pipe.recv()
        except (EOFError, OSError):
            self.end()
            return Outcome(CRASH, self._epitaph())
        self.end()
        return Outcome(HANG, f"no answer after {limit:g} s")

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.alive = False
        self._pipe.close()
        self._process.join(0.2)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        if not self._noise.closed:
            self._noise.seek(0)
            self._printed = self._noise.read().decode("utf-8", "replace")
            self._noise.close()

    def kill(self) -> None:
        """End the process at once; who waits for its answer hears that it is gone."""
        self._process.kill()

    def _epitaph(self) -> str:
        """How the process ended, and the last line that it printed."""
        code = self._process.exitcode or 0
        try:
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        except ValueError:
            how = f"signal {-code}"
        lines = self._printed.split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{how}: {printable(last)[:200]}" if last else how


def _handed(descriptor: int) -> Connection:
    """An open file as what `multiprocessing` hands to a child process: as if it were a pipe."""
    if sys.platform == "win32":
        import msvcrt
        from multiprocessing.connection import PipeConnection

        return PipeConnection(msvcrt.get_osfhandle(os.dup(descriptor)), readable=False)
    return Connection(os.dup(descriptor), readable=False)
