"""Hexagon through QNN's HTP library: the NPU, or its emulation on x86 in a process of its own.

In a process, QNN keeps what its first session set: one that set `soc_model` makes all later ones
compute in float16, and nothing is said. So the emulated backend has a process for each set of
options, which also keeps what the library prints out of the caller's output; on the NPU, where a
call takes less than the way to another process, other options are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rlx.backends.onnxruntime.provider import Placed, Provider, by_index


def htp(engine: Any, provider: Provider, index: int, settings: Mapping[str, str]) -> Placed:
    """A device of the HTP library; emulated, it computes float32 unless it is told the chip."""
    found = by_index(engine, provider, index, settings)
    if found.device is not None:
        from importlib import import_module

        path = import_module(str(provider.plugin)).get_qnn_htp_path()
        found = replace(found, settings={**found.settings, "backend_path": path})
    if "CPU" in provider.hardware:
        half = settings.get("soc_model", "0") != "0"
        computes = "float16" if half else None
        return replace(found, computes=computes, software=True, detail="HTP, emulated")
    return found
