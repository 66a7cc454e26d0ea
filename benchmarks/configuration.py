"""What judging configuration costs: fresh processes of `rlx validate` and `rlx diff`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import onnx

from benchmarks.models import chain
from benchmarks.results import Figure
from benchmarks.timing import processes

MANIFEST = """\
apiVersion: rlx/v1
kind: Backends
backends:
  - {{id: mine-{0}, device: cpu, rank: {1}, dispatches: true, factory: "m{0}:open"}}
"""
OVERRIDE = "apiVersion: rlx/v1\nkind: Backends\noverrides: [{id: numpy, rank: 1}]\n"


def measure() -> tuple[list[Figure], dict[str, Any]]:
    """The packaged configuration, 1,000 manifests, and 50 programs under two configurations."""
    root = str(Path(__file__).parent.parent)
    with tempfile.TemporaryDirectory() as folder:
        many, programs = Path(folder, "many"), Path(folder, "programs")
        many.mkdir()
        programs.mkdir()
        for i in range(1000):
            (many / f"m{i}.yaml").write_text(MANIFEST.format(i, 1000 + i), encoding="utf-8")
        for i in range(50):
            onnx.save(chain(10 + i), programs / f"p{i}.onnx")
        new = Path(folder, "new.yaml")
        new.write_text(OVERRIDE, encoding="utf-8")
        best = processes(
            {"packaged": ["-m", "rlx", "validate", "configs/backends.yaml"]}, rounds=8, cwd=root
        )
        best |= processes(
            {
                "manifests": ["-m", "rlx", "validate", str(many)],
                "programs": ["-m", "rlx", "diff", "packaged", str(new), str(programs)],
            },
            rounds=4,
            cwd=root,
        )
    return [
        Figure(
            "`rlx validate configs/backends.yaml`, cold start", best["packaged"] * 1e3, "ms", 250
        ),
        Figure("`rlx validate` of 1,000 manifests", best["manifests"], "s", 5),
        Figure("`rlx diff` of 50 programs", best["programs"], "s", 2),
    ], {"seconds": best}
