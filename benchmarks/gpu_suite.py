"""`python -m benchmarks.gpu_suite [BACKEND…]`: ONNX's suite on the GPU's backends.

Each backend has a process of its own and a time limit. Prints what each passed, and its wrong
answers; the exit code is 1 where there is a wrong one.
"""

from __future__ import annotations

import subprocess
import sys

BACKENDS = ("torch-cuda", "jax-cuda", "cupy")
SECONDS = 400


def suite(backend: str) -> tuple[int, str]:
    """One backend's exit code and tally."""
    command = [sys.executable, "-m", "rlx.conformance", "--backend", backend, "--suite"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 1, f"{backend}: not done after {SECONDS} s"
    text = done.stdout.strip() or done.stderr.strip()[-2000:]
    return done.returncode, text


def main() -> int:
    worst = 0
    for backend in sys.argv[1:] or BACKENDS:
        code, text = suite(backend)
        print(text, flush=True)
        worst = max(worst, code)
    return worst


if __name__ == "__main__":
    sys.exit(main())
