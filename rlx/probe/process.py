"""Running one probe in a child process that can be killed; every failure becomes a reason."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

CHILD = Path(__file__).with_name("child.py")
LIMIT = 1 << 16
"""Bytes of an answer, or of what the engine printed last, that are looked at."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a child found: a reason, or None and what the device is."""

    reason: str | None = None
    software: bool = False
    detail: str = ""
    transient: bool = False
    """True when asking again may give another answer: a timeout, a crash, no child at all."""


def ask(kind: str, target: str, index: int, timeout: float) -> Answer:
    """Run a `call` or `library` probe in a child; never raises for what happens there."""
    what = f"probe {target}" if kind == "call" else f"loading library {target}"
    # The loader looks for libraries in the working directory on some systems, and wherever
    # LD_LIBRARY_PATH has an empty member: from the root it finds nothing of the user's there.
    cwd = os.path.abspath(os.sep) if kind == "library" else None  # noqa: PTH100
    said = converse(CHILD, what, {"kind": kind, "target": target, "index": index}, timeout, cwd)
    return said if isinstance(said, Answer) else _judge(what, said)


def converse(
    script: Path, what: str, request: dict[str, Any], timeout: float, cwd: str | None = None
) -> bytes | Answer:
    """What a child says that is asked `request`; an `Answer` with the reason where it says nothing.

    `script` begins as `child.py` does; `what` is what messages call it. Never raises for what
    happens there.
    """
    # An empty name is None where Python is embedded; a frozen application would start itself.
    if not sys.executable or getattr(sys, "frozen", False):
        return Answer(f"{what} needs a Python interpreter to run in, and there is none here")
    path = [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - "" is the cwd
    asked = json.dumps({**request, "timeout": timeout, "path": path}).encode()
    try:
        with tempfile.TemporaryFile() as answers, tempfile.TemporaryFile() as noise:
            code = _run(script, asked, answers, noise, cwd, timeout)
            return _read(what, code, timeout, answers, noise)
    except (OSError, ValueError, OverflowError) as error:  # the latter: no such timeout
        return Answer(f"{what} could not be started: {error}", transient=True)


def _flags() -> list[str]:
    """The interpreter's own switches that decide what it may import; never the script's folder."""
    switches = {
        "-I": sys.flags.isolated,
        "-E": sys.flags.ignore_environment,
        "-s": sys.flags.no_user_site,
        "-S": sys.flags.no_site,
    }
    return ["-P", *(switch for switch, on in switches.items() if on)]


def _run(
    script: Path,
    request: bytes,
    answers: IO[bytes],
    noise: IO[bytes],
    cwd: str | None,
    timeout: float,
) -> int | None:
    """The child's exit code (minus the signal's number), or None after a timeout."""
    settings: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        settings = {"creationflags": flags}
    child = subprocess.Popen(
        [sys.executable, *_flags(), str(script)],
        stdin=subprocess.PIPE,
        stdout=answers,
        stderr=noise,
        cwd=cwd,
        **settings,
    )
    try:
        # The request is smaller than a pipe's buffer, or the child reads it at once.
        child.communicate(request + b"\n", timeout)
    except subprocess.TimeoutExpired:
        _kill(child)
        return None
    except BaseException:
        _kill(child)
        raise
    _end_group(child)
    return child.returncode


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the child and every process that it started."""
    if sys.platform == "win32":
        tree = ["taskkill", "/T", "/F", "/PID", str(child.pid)]
        subprocess.run(tree, capture_output=True, check=False)
        child.kill()
    _end_group(child)
    child.wait()
    if child.stdin is not None:
        with contextlib.suppress(OSError):  # what it did not read is lost
            child.stdin.close()


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """End what the child started and left behind, unless that began a session of its own."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):  # all have ended
            os.killpg(child.pid, signal.SIGKILL)


def _read(
    what: str, code: int | None, timeout: float, answers: IO[bytes], noise: IO[bytes]
) -> bytes | Answer:
    if code is None:
        return Answer(f"{what} did not answer within {timeout:g} s", transient=True)
    answers.seek(0)
    line = answers.read(LIMIT)
    if code == 0 and line:
        return line
    printed = _last_line(noise)
    if code < 0 or code >= 0xC0000000:
        return Answer(f"{what} crashed with {_signal(code)}{printed}", transient=True)
    return Answer(f"{what} ended its process with exit code {code}{printed}")


def _judge(what: str, line: bytes) -> Answer:
    try:
        data = json.loads(line)
        if "found" in data:
            return Answer(
                software=data["found"]["software"], detail=shorten(data["found"]["detail"])
            )
        if "error" in data:
            return Answer(f"{what} {shorten(data['error'])}")
        return Answer(shorten(data["reason"]))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return Answer(f"{what} answered with garbage: {line[:60]!r}")


def shorten(text: str) -> str:
    """Foreign text as one line of at most 400 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 400 else line[:399] + "…"


def _signal(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}" if code < 0 else f"{code:#x}"


def _last_line(noise: IO[bytes]) -> str:
    """What the child printed last, since a dying engine often says why."""
    size = noise.seek(0, os.SEEK_END)
    noise.seek(max(0, size - LIMIT))
    lines = noise.read(LIMIT).decode("utf-8", "replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "")
    return f": {shorten(last)}" if last else ""
