"""A worker process: `rlx explain` and `rlx run` of one file after another, all opens watched.

Reads a path a line, answers a JSON line; the process that started it kills it when it hangs.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
import tempfile
from pathlib import Path

from rlx.cli import app

MEMORY = 6 << 30
CANARY = "canary-of-the-fuzz"


def commands(path: str) -> list[list[str]]:
    """What is done with each file; a run is of small sizes, and the oracle's rank never wins."""
    return [["explain", path, "--no-probe"], ["run", path, "--random", "--backend", "numpy"]]


HOST = ("/sys/", "/proc/driver/", "/proc/sys/", "/usr/lib/os-release/", "/etc/os-release/")
"""What tells which hardware is here: routes are refused with it."""


class Watch:
    """An audit hook that notes what is opened outside the folder and outside Python's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: list[str] = []
        self.on = False
        self.temporary = tempfile.gettempdir()  # finding it tries to write there, the first time
        roots = {sys.prefix, sys.base_prefix, str(Path(__file__).parents[2])}
        roots |= {os.environ.get("XDG_CACHE_HOME", sys.prefix)}  # what probes said is kept there
        self.allowed = tuple(f"{Path(root).resolve()}{os.sep}" for root in roots)
        sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        """Called by Python at each open."""
        if not self.on or event != "open" or not isinstance(arguments[0], str | bytes):
            return
        path = os.fsdecode(arguments[0])
        whole = os.path.realpath(path) if os.path.isabs(path) else path  # noqa: PTH117
        places = (f"{self.folder}{os.sep}", *self.allowed, "/proc/self/", "/dev/", *HOST)
        # Probes' unnamed files are made by opening the folder for temporary files itself.
        inside = f"{whole}{os.sep}".startswith(places) or path == self.temporary
        if "outside.bin" in path or (os.path.isabs(path) and not inside):  # noqa: PTH117
            self.seen.append(path)


def judge(path: str, watch: Watch) -> dict[str, object]:
    """Both commands on one file."""
    found: dict[str, object] = {"codes": [], "wrong": []}
    for command in commands(path):
        out, err = io.StringIO(), io.StringIO()
        watch.seen, watch.on = [], True
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code: object = app.run(command)
        except BaseException as error:  # noqa: BLE001 - whatever escapes is a finding
            code = f"{type(error).__name__}: {error}"
        watch.on = False
        text = out.getvalue() + err.getvalue()
        found["codes"].append(code)  # type: ignore[attr-defined]
        faults = [] if code in {0, 1, 2, 3} else [f"exit {code}"]
        faults += ["a traceback"] * ("Traceback" in text) + ["the secret"] * (CANARY in text)
        faults += ["an escape"] * ("\x1b" in text) + [f"opened {one}" for one in watch.seen]
        found["wrong"] += [f"{command[0]}: {one}" for one in faults]  # type: ignore[operator]
        if faults:
            found["text"] = text[-1500:]
    return found


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what C code prints is not an answer
    watch = Watch(folder)
    for line in sys.stdin:
        print(json.dumps(judge(line.rstrip("\n"), watch)), file=answers, flush=True)


if __name__ == "__main__":
    main()
