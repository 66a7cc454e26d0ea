"""`python -m tests.manifest.hostile`: judge every hostile file, each in a process of its own.

Prints how many there are, and the slowest and the largest; `--json` prints one line for each.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from rlx.cli import app
from tests.manifest.hostile.places import Hostile, write

NOBODY = 65534
SECONDS = 60
FORBIDDEN = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
             "ctypes.", "socket.", "pty.", "pickle.")  # fmt: skip
"""Audit events that nothing which is validated may cause."""


def judge(case: Hostile) -> dict[str, object]:
    """Validate one file here; what was printed, how long it took, what it caused."""
    caused: list[str] = []

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event.startswith(FORBIDDEN) or (event == "import" and "canary" in str(arguments[0])):
            caused.append(event)

    out, err = io.StringIO(), io.StringIO()
    if case.unprivileged and os.geteuid() == 0:
        os.seteuid(NOBODY)
    sys.addaudithook(watch)
    start, used = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = app.run(["validate", case.path])
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    return {
        "name": case.name,
        "code": code,
        "seconds": seconds,
        "processor_seconds": processor,
        "out": out.getvalue(),
        "err": err.getvalue(),
        "caused": list(caused),
    }


def apart(case: Hostile) -> dict[str, object]:
    """The same, in a child of this process, with the memory that it needed at most, in MB."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            told = json.dumps(judge(case)).encode()
        except BaseException as error:  # noqa: BLE001 - told to the parent, whatever it is
            told = json.dumps({"name": case.name, "raised": repr(error)}).encode()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(told)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status, usage = os.wait4(child, 0)
    found = json.loads(told) if told else {"name": case.name, "raised": f"status {status}"}
    return found | {"megabytes": usage.ru_maxrss / (1 if sys.platform != "darwin" else 1024) / 1000}


def judge_all(folder: Path) -> list[dict[str, object]]:
    """Every hostile file, written below the folder; what loads once is loaded before."""
    cases = write(folder)
    os.chdir(folder)
    sys.path.insert(0, str(folder))  # so that the canary could be imported
    head = b"apiVersion: rlx/v1\nkind: Backends\n"
    rows = b"coverage: {rows: [{operations: [Nothing]}]}, probes: [{module: a, version: b}]"
    for warm in (b"", b"a", head + b"x: [no]\n", head + b"backends: [{id: a, " + rows + b"}]\n",
                 head + b"backends: [{id: a, device: b, " + rows + b"}]\n"):  # fmt: skip
        (folder / "warm.yaml").write_bytes(warm)
        judge(Hostile("", str(folder / "warm.yaml")))
    return [apart(case) for case in cases]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "files"
        folder.mkdir()
        found = judge_all(folder)
        ran = (folder / "pwned").exists()
    if "--json" in sys.argv:
        for one in found:
            print(json.dumps(one))
        print(json.dumps({"ran": ran}))
        return
    wrong = [one["name"] for one in found if one.get("code") not in (1, 2) or one.get("caused")]
    print(f"{len(found)} files; not refused: {wrong or 'none'}; ran something: {ran}")
    for unit in ("seconds", "processor_seconds", "megabytes"):
        print(f"most {unit}:")
        ordered = sorted(found, key=lambda one: -float(str(one.get(unit, 1e9))))
        for one in ordered[:12]:
            print(f"  {float(str(one.get(unit, 1e9))):8.3f}  {one['name']}")


if __name__ == "__main__":
    main()
