"""`python -m tests.models [BACKEND…]`: the largest error of each model on each backend."""

from __future__ import annotations

import sys

from rlx.errors import NoBackend, RlxError
from tests.models.agreement import candidates, errors, through
from tests.models.catalogue import MODELS


def judge(backend: str, name: str) -> str:
    """One cell."""
    try:
        with through(backend, MODELS[name]) as run:
            return f"{max(errors(run, MODELS[name])):.1e}"
    except NoBackend as refusal:
        lines = [line for line in str(refusal).splitlines() if line.split()[:1] == [backend]]
        return f"refused: {' '.join(lines[0].split()[1:]) if lines else refusal}"
    except RlxError as error:
        return f"FAILED: {error}"


def main() -> None:
    chosen = sys.argv[1:] or [name for name, _ in candidates()]
    for backend in chosen:
        for name in MODELS:
            print(f"{backend:16} {name:20} {judge(backend, name)}", flush=True)


if __name__ == "__main__":
    main()
