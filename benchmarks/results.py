"""One measured figure, and the file that holds them all."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILE = HERE / "results.json"
PACKAGES = ("numpy", "onnx", "onnxruntime", "openvino", "tinygrad", "torch", "jax")
"""Whose versions are told."""


@dataclass(frozen=True)
class Figure:
    """A figure against its bar: `value` and `bar` in `unit`; `better` is `less` or `more`."""

    name: str
    value: float
    unit: str
    bar: float
    better: str = "less"
    against: str = ""
    """The alternative that was measured in the same run, and its own value."""

    @property
    def holds(self) -> bool:
        """True when the bar is met."""
        return self.value <= self.bar if self.better == "less" else self.value >= self.bar


def save(groups: dict[str, list[Figure]], details: dict[str, Any]) -> None:
    """Write the figures, with what they were measured on."""
    document = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "packages": {name: version(name) for name in PACKAGES},
        "threads": 1,
        "figures": {
            group: [{**asdict(one), "holds": one.holds} for one in figures]
            for group, figures in groups.items()
        },
        "details": details,
    }
    FILE.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def load() -> dict[str, Any]:
    """The figures that were saved last."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
