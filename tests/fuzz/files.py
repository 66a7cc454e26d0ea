"""`python -m tests.fuzz.files --count 5000`: damaged `.onnx` files through the command line.

None may crash the process, hang it, show a traceback, or have anything outside its folder read.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.fuzz.mutations import bases, mutate
from tests.fuzz.watched import CANARY

SECONDS = 60
ROOT = Path(__file__).parents[2]


class Worker:
    """The watched process, started again after each crash and each hang."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def judge(self, path: Path) -> dict[str, object]:
        """The worker's answer, or how it ended."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.watched", str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=ROOT,
                env={
                    **os.environ,
                    "OPENBLAS_NUM_THREADS": "1",
                    "PYTHONPATH": str(ROOT),
                    "XDG_CACHE_HOME": str(self.folder / "cache"),  # answers of probes go there
                },
            )
        given, answers = self.process.stdin, self.process.stdout
        assert given is not None
        assert answers is not None
        with suppress(BrokenPipeError):  # it ended: there is nothing to read either
            given.write(f"{path}\n")
            given.flush()
        ready, _, _ = select.select([answers], [], [], SECONDS)
        line = answers.readline() if ready else ""
        if line:
            answer: dict[str, object] = json.loads(line)
            return answer
        status = self.close()
        return {"codes": [], "wrong": [f"a crash, status {status}" if ready else "a hang"]}

    def close(self) -> int:
        """End the process."""
        if self.process is None:
            return 0
        self.process.kill()
        status = self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        self.process = None
        return status


def trap(root: Path) -> Path:
    """A folder for the files, with weights and links in it, and a secret beside it."""
    folder = root / "files"
    folder.mkdir()
    secret = (CANARY.encode() + b"\0") * 400
    (root / "outside.bin").write_bytes(secret)
    (folder / "w.bin").write_bytes(bytes(4096))
    (folder / "link.bin").symlink_to(root / "outside.bin")
    (folder / "linked").symlink_to(root)
    return folder


def judge_all(seeds: range, folder: Path) -> Iterator[tuple[int, str, dict[str, object]]]:
    """Each seed's file: what it is, and what came of it."""
    held, worker = bases(), Worker(folder)
    try:
        for seed in seeds:
            what, data = mutate(seed, held)
            path = folder / "case.onnx"
            path.write_bytes(data)
            yield seed, what, worker.judge(path)
    finally:
        worker.close()


def main() -> int:
    """Run many; each finding is printed with its seed, and its file is kept where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--keep", type=Path, help="a folder for the files that show something")
    chosen = parser.parse_args()
    codes: Counter[str] = Counter()
    findings = 0
    with tempfile.TemporaryDirectory() as place:
        folder = trap(Path(place))
        seeds = range(chosen.first, chosen.first + chosen.count)
        for seed, what, found in judge_all(seeds, folder):
            codes[str(found["codes"])] += 1
            if found["wrong"]:
                findings += 1
                print(f"seed {seed}: {what}: {found['wrong']}\n{found.get('text', '')}", flush=True)
                if chosen.keep is not None:
                    (chosen.keep / f"{seed}.onnx").write_bytes((folder / "case.onnx").read_bytes())
    print(f"{chosen.count} files from seed {chosen.first}: {findings} findings; exit codes of")
    print(f"explain and run: {dict(codes.most_common())}")
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
