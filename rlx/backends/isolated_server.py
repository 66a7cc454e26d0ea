"""The process of an isolated backend: opens it, and answers requests until its input ends.

It is started by its path. Requests and answers are pickles behind their length; what the engine
prints goes to standard error, and only answers to the first standard output.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import IO, Any

LENGTH = struct.Struct("<Q")


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message."""
    data = pickle.dumps(message, protocol=5)
    stream.write(LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message.

    Raises:
        EOFError: the other side has ended.
    """
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError("no more messages")
    (length,) = LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError("a message was cut short")
    return pickle.loads(data)


class Server:
    """One backend, and what it has compiled, by number."""

    def __init__(self) -> None:
        self._backend: Any = None
        self._compiled: dict[int, Any] = {}

    def open(self, factory: str, spec: Any, options: dict[str, object]) -> tuple[str, str]:
        """Open the backend; its device and version."""
        from rlx.references import resolve

        self._backend = resolve(factory)(spec, options)
        return self._backend.device, self._backend.version

    def call(self, function: str, arguments: tuple[Any, ...]) -> Any:
        """What a function, named as `module:attribute`, returns."""
        from rlx.references import resolve

        return resolve(function)(*arguments)

    def compile(self, number: int, program: Any, options: Any) -> str:
        """Compile, and keep what is made under the number; its device."""
        made = self._compiled[number] = self._backend.compile(program, options)
        return str(made.device)

    def run(self, number: int, inputs: list[Any]) -> list[Any]:
        """Run what is kept under the number."""
        return list(self._compiled[number].run(inputs))

    def close(self, number: int) -> None:
        """Let go of it."""
        self._compiled.pop(number).close()

    def answer(self, request: tuple[Any, ...]) -> tuple[str, Any]:
        """What comes of a request: `done` and its result, or `raised` and what was raised."""
        from rlx.errors import RlxError

        name, *arguments = request
        try:
            return "done", getattr(self, name)(*arguments)
        except RlxError as error:
            return "raised", (type(error).__name__, error.message, error.fix)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the other side is told
            text = " ".join(str(error).split())
            kind = type(error).__name__
            said = f"{kind}: {text}" if text else f"{kind} without a message"
            return "raised", ("ExecutionError", said, None)


def main() -> None:
    """Serve until the other side closes its end, then leave without the engine's exit handlers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    server = Server()
    while True:
        try:
            request = receive(sys.stdin.buffer)
        except EOFError:
            os._exit(0)
        send(answers, server.answer(request))


if __name__ == "__main__":
    main()
