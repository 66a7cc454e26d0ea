"""A backend in a process of its own: for engines whose settings, crashes or output stay in one.

Programs and arrays go there and back through pipes, which costs tens of microseconds and a copy a
call. The process ends with the backend, or with this process.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import rlx.errors
from rlx.backends.isolated_server import receive, send
from rlx.errors import ExecutionError, RlxError, SessionClosed, Unavailable, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rlx.backends.protocol import Array, CompileOptions
    from rlx.device import DeviceSpec
    from rlx.program import Program

SERVER = Path(__file__).with_name("isolated_server.py")
LAST = 400
"""Characters of what the process printed last that a message shows."""


class Isolated:
    """A backend that another process has opened; any number of threads may use it, in turn."""

    def __init__(self, id: str, factory: str, spec: DeviceSpec, options: Mapping[str, object]):
        """Start the process, and open the backend that `module:attribute` names there.

        Raises:
            RlxError: as the factory raised it.
            Unavailable: the process does not start, or ended while it opened the backend.
        """
        self._id = id
        self._opening = (factory, spec, dict(options))
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._process: _Process | None = None
        self._closed = False
        self.device, self.version = self._start()

    def compile(self, program: Program, options: CompileOptions) -> Remote:
        """Compile there. Where the process has ended since, another one is started first.

        Raises:
            RlxError: as the backend raised it.
            ExecutionError: the process ended meanwhile.
        """
        with self._lock:
            if self._closed:
                raise SessionClosed(f"{self._id} was closed", fix="open it again.")
            process = self._process
            if process is None or not process.alive:
                self._start()
                process = self._process
            assert process is not None
            number = next(self._numbers)
            device = process.ask("compile", number, program, options)
        return Remote(self._lock, process, number, device)

    def close(self) -> None:
        """End the process; calling it again does nothing."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.end()

    def _start(self) -> tuple[str, str]:
        if self._process is not None:
            self._process.end()
        self._process = _Process(self._id)
        try:
            device, version = self._process.ask("open", *self._opening)
        except BaseException as error:
            self._process.end()
            if isinstance(error, ExecutionError):
                raise Unavailable(error.message, fix="see `rlx devices`.") from error
            raise
        return device, version


def apart(id: str, function: str, *arguments: Any) -> Any:
    """What a function, named as `module:attribute`, returns in a fresh process, which then ends.

    For engines that count on from what the process did before, or keep its settings.

    Raises:
        RlxError: as the function raised it; an ExecutionError for what is not rlx's own.
        ExecutionError: the process ended meanwhile.
        Unavailable: it does not start.
    """
    process = _Process(id)
    try:
        return process.ask("call", function, arguments)
    finally:
        process.end()


class Remote:
    """A program that another process has compiled."""

    def __init__(self, lock: threading.Lock, process: _Process, number: int, device: str):
        self._lock, self._process, self._number = lock, process, number
        self.device = device
        self._closed = False

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Run there; the outputs are this process's own."""
        with self._lock:
            if self._closed:
                raise SessionClosed(
                    f"this executable was closed, called with {len(inputs)} inputs",
                    fix="compile again.",
                )
            outputs: Sequence[Array] = self._process.ask("run", self._number, list(inputs))
        return outputs

    def close(self) -> None:
        """Let it go there; calling it again does nothing."""
        with self._lock:
            if not self._closed and self._process.alive:
                with contextlib.suppress(ExecutionError):  # the process has ended: so has it
                    self._process.ask("close", self._number)
            self._closed = True


class _Process:
    """The process, its two pipes, and the file of what its engine prints."""

    def __init__(self, id: str):
        self._id = id
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        settings: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            settings = {"creationflags": subprocess.CREATE_NO_WINDOW}
        path = os.pathsep.join(os.path.abspath(one) for one in sys.path)  # noqa: PTH100
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-P", str(SERVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._noise,
                env={**os.environ, "PYTHONPATH": path},
                **settings,
            )
        except OSError as error:
            self._noise.close()
            raise Unavailable(f"the process of {id} could not be started: {error}") from error
        self.owner = os.getpid()
        # Also when it is dropped without being closed, and when this process ends.
        self.end = weakref.finalize(self, _end, self._child, self._noise, self.owner)

    @property
    def alive(self) -> bool:
        """Whether it can be asked; never in a fork of the process that started it."""
        return self.owner == os.getpid() and self._child.poll() is None

    def ask(self, *request: Any) -> Any:
        """What it answers.

        Raises:
            RlxError: as it was raised there; an ExecutionError for what is not rlx's own.
            ExecutionError: it has ended.
        """
        if self.owner != os.getpid():
            raise SessionClosed(
                f"the process of {self._id} belongs to the process that forked this one",
                fix="open the backend in this process.",
            )
        to, back = self._child.stdin, self._child.stdout
        assert to is not None
        assert back is not None
        try:
            send(to, request)
            kind, answer = receive(back)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            raise ExecutionError(
                f"the process of {self._id} ended with {self._epitaph()}",
                fix="compile again, which starts another; or choose another backend.",
            ) from error
        if kind == "raised":
            raise _rebuilt(*answer)
        return answer

    def _epitaph(self) -> str:
        try:
            code = self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            code = self._child.wait()
        return f"{_signal(code)}{_last(self._noise)}"


def _end(child: subprocess.Popen[bytes], noise: IO[bytes], owner: int) -> None:
    """End the process, whatever it is doing; in a fork of its owner, nothing."""
    if owner != os.getpid():
        return
    if child.poll() is None:
        child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    noise.close()


def _signal(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"
    except ValueError:
        return f"signal {-code}"


def _last(noise: IO[bytes]) -> str:
    if noise.closed:
        return ""
    size = noise.seek(0, os.SEEK_END)
    noise.seek(max(0, size - 4096))
    lines = noise.read().decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {printable(last)[:LAST]}" if last else ""


def _rebuilt(name: str, message: str, fix: str | None) -> RlxError:
    """The error as it was raised there."""
    kind = getattr(rlx.errors, name, ExecutionError)
    made = kind(message, fix=fix)
    assert isinstance(made, RlxError)
    return made
