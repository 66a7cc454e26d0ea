"""The killable child process: runs one `call` or `library` probe and answers in one line of JSON.

It is started by its path, not imported, and imports nothing of rlx: a probe costs little more
than a bare interpreter. The request comes as one line of JSON on standard input. What the engine
prints, from Python or C, goes to standard error; only the answer goes to the first standard output.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn


def call(target: str, index: int) -> dict[str, Any]:
    """Import `module:attribute`, call it with the device index, and judge what it returns."""
    name, _, attributes = target.partition(":")
    try:
        found: Any = importlib.import_module(name)
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any failure of foreign code is an answer
        return {"error": f"could not be imported: {describe(error)}"}
    try:
        result = found(index)
        if result is None:
            return {"found": {"software": False, "detail": ""}}
        if isinstance(result, str) and result.strip():
            return {"reason": result}
        # A probe that returns a Found has imported it.
        protocol = sys.modules.get("rlx.backends.protocol")
        if protocol is not None and isinstance(result, protocol.Found):
            return {"found": {"software": bool(result.software), "detail": str(result.detail)}}
        return {"error": f"returned {result!r:.80}, not None, a reason or Found"}
    except SystemExit as error:
        return {"error": f"called sys.exit({error.code!r:.80})"}
    except Exception as error:  # noqa: BLE001 - any failure of foreign code is an answer
        return {"error": f"raised {describe(error)}"}


def library(name: str) -> dict[str, Any]:
    """Load a shared library: an absolute path, a file name, or a bare name such as `vulkan`."""
    import ctypes.util

    path: str | None = name
    if not Path(name).is_absolute() and not any(mark in name for mark in (".so", ".dylib", ".dll")):
        path = ctypes.util.find_library(name)
        if path is None:
            return {"reason": f"shared library {name} was not found"}
    try:
        ctypes.CDLL(path)
    except OSError as error:
        return {"reason": f"shared library {name} cannot be loaded: {error}"}
    return {"found": {"software": False, "detail": ""}}


def describe(error: BaseException) -> str:
    """The exception's type and text; the type alone where there is no text."""
    text = str(error)
    return (
        f"{type(error).__name__}: {text}" if text else f"{type(error).__name__} without a message"
    )


def begin() -> tuple[int, dict[str, Any]]:
    """Where the answer goes, and what is asked; a child that is forgotten ends by itself."""
    import faulthandler

    answers = os.dup(1)
    os.dup2(2, 1)
    request = json.loads(sys.stdin.buffer.readline())
    # Should the parent be gone, nobody else ends a probe that hangs.
    faulthandler.dump_traceback_later(request["timeout"] + 5, exit=True)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if request["kind"] != "library":
        # The parent's path may hold the working directory: only the target may come from there.
        sys.path[:] = request["path"]
    return answers, request


def end(answers: int, answer: dict[str, Any]) -> NoReturn:
    """Answer, and leave without running the engine's exit handlers."""
    os.write(answers, json.dumps(answer).encode("ascii") + b"\n")
    os._exit(0)


def main() -> None:
    """Answer one request."""
    answers, request = begin()
    if request["kind"] == "call":
        end(answers, call(request["target"], request["index"]))
    end(answers, library(request["target"]))


if __name__ == "__main__":
    main()
