"""`python -m tests.models [--unclaimed] [BACKEND…]`: each model's largest error on each backend.

With `--unclaimed` the backend is asked itself, whatever its coverage claims.
"""

from __future__ import annotations

import sys
from typing import Any

from rlx.errors import NoBackend, RlxError
from tests.models.agreement import candidates, errors, through, unclaimed
from tests.models.catalogue import MODELS


def judge(backend: str, name: str, way: Any = through) -> str:
    """One cell."""
    try:
        with way(backend, MODELS[name]) as run:
            return f"{max(errors(run, MODELS[name])):.1e}"
    except NoBackend as refusal:
        lines = [line for line in str(refusal).splitlines()[1:] if line.split()[:1] == [backend]]
        return f"refused: {' '.join(lines[0].split()[1:]) if lines else refusal}"
    except (RlxError, NotImplementedError) as error:
        return f"FAILED: {error}"


def main() -> None:
    chosen = [one for one in sys.argv[1:] if not one.startswith("-")]
    chosen = chosen or [name for name, _ in candidates()]
    way = unclaimed if "--unclaimed" in sys.argv else through
    for backend in chosen:
        for name in MODELS:
            print(f"{backend:16} {name:20} {judge(backend, name, way)}", flush=True)


if __name__ == "__main__":
    main()
