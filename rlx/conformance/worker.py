"""The killable child process that runs trials: what they do to it, they do to nobody else.

It opens one backend, then answers batches: for each trial the status and its detail. What engines
print goes into a file, of which the parent shows the end when the child dies.
"""

from __future__ import annotations

import os
import sys
from multiprocessing import connection, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

from rlx.conformance.routed import attempt as attempt_routed
from rlx.conformance.trial import Outcome, Trial, attempt
from rlx.device import DeviceSpec
from rlx.errors import RlxError, said, told
from rlx.session import Session
from rlx.session.default import load_registry
from rlx.session.opening import open_backend
from rlx.session.selection import probed

NATIVE, ROUTED = "native", "routed"
"""The backend itself, without router and coverage; or as a user would, by a session."""


def serve(pipe: Connection, backend: str, config: tuple[str, ...], noise: Connection) -> None:
    """Open the backend, say so and whether a CPU emulates its device; run what comes.

    Until the parent hangs up, or is gone.
    """
    Thread(target=_outlive_nobody, daemon=True).start()
    _redirect(noise)
    registry = load_registry(config)
    registration = registry.get(backend)
    assert registration is not None, backend
    try:
        opened = open_backend(registration, DeviceSpec(registration.device, 0))
    except Exception as error:  # noqa: BLE001 - the parent raises it again
        cause = said(error).partition(" failed: ")[2] or told(error)
        pipe.send((False, (cause, _fix(error)), False))
        return
    pipe.send((True, opened.version, probed(registry, registration, 0).software))
    session: Session | None = None
    while True:
        try:
            way, batch = pipe.recv()
        except EOFError:
            break
        if way == ROUTED and session is None:
            session = Session(backend=backend, registry=registry)
        for trial in batch:
            outcome = _run(way, trial, opened, session)
            pipe.send((outcome.status, outcome.detail))
    # Engines may hang or crash while they are torn down, and there is nothing to save.
    os._exit(0)


def _fix(error: Exception) -> str | None:
    return error.fix if isinstance(error, RlxError) else None


def _run(way: str, trial: Trial, opened: Any, session: Session | None) -> Outcome:
    if way == NATIVE:
        return attempt(opened, trial)
    assert session is not None
    return attempt_routed(session, trial)


def _outlive_nobody() -> None:
    """End with the parent, also in the middle of a trial that never ends."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _redirect(noise: Connection) -> None:
    """Send what the engine prints, from Python or C, to a file; leave no core dumps."""
    file = noise.fileno()
    if sys.platform == "win32":
        import msvcrt

        file = msvcrt.open_osfhandle(file, os.O_APPEND)
    for stream in (1, 2):
        os.dup2(file, stream)
    if sys.platform != "win32":
        noise.close()
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
