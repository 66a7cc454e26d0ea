"""What starting costs: fresh processes against a bare interpreter."""

from __future__ import annotations

import compileall
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.results import Figure
from benchmarks.timing import processes

OVERLAY = """\
apiVersion: rlx/v1
kind: Backends
overrides:
  - {id: numpy, rank: 5}
"""


def measure() -> tuple[list[Figure], dict[str, Any]]:
    """Importing, loading the packaged registry, and loading it with a project's file on top."""
    root = str(Path(__file__).parent.parent)
    compileall.compile_dir(f"{root}/rlx", quiet=1)  # as an installation does
    load = "import sys; sys.path.insert(0, sys.argv[1]); import rlx; rlx.Registry.load()"
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as project:
        Path(project, "backends.yaml").write_text(OVERLAY, encoding="utf-8")
        common = {
            "bare": ["-c", "import sys; sys.path.insert(0, sys.argv[1])", root],
            "import rlx": ["-c", "import sys; sys.path.insert(0, sys.argv[1]); import rlx", root],
            "registry": ["-c", load, root],
        }
        best = processes(common, cwd=empty)
        overlay = processes({"bare": common["bare"], "overlay": ["-c", load, root]}, cwd=project)
        validate = processes(
            {"rlx validate": ["-m", "rlx", "validate", str(Path(project, "backends.yaml"))]},
            rounds=8,
            cwd=root,
        )
    beside = f"bare interpreter {best['bare'] * 1e3:.1f} ms"
    figures = [
        Figure("`import rlx` adds", _added(best, "import rlx"), "ms", 5, against=beside),
        Figure(
            "packaged registry in a fresh process adds",
            _added(best, "registry"),
            "ms",
            45,
            against=beside,
        ),
        Figure(
            "with a project's backends.yaml on top",
            _added(overlay, "overlay"),
            "ms",
            200,
            against=beside,
        ),
    ]
    return figures, {"seconds": {**best, **overlay, **validate}}


def _added(best: dict[str, float], name: str) -> float:
    return (best[name] - best["bare"]) * 1e3
