"""One name in rlx for each system and machine, whatever a platform calls itself."""

from __future__ import annotations

import os
import sys

SYSTEMS = {"darwin": "macos", "win32": "windows", "cygwin": "windows", "osx": "macos"}
MACHINES = {"amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "aarch64": "arm64"}
"""Other names of systems and machines."""


def normal(name: str) -> str:
    """The name in rlx: `linux`, `macos`, `windows`; `x86_64`, `arm64`."""
    lowered = name.lower()
    return SYSTEMS.get(lowered) or MACHINES.get(lowered) or lowered


def here() -> tuple[str, str]:
    """This system and machine."""
    windows = sys.platform == "win32"
    machine = os.environ.get("PROCESSOR_ARCHITECTURE", "") if windows else os.uname().machine
    return normal(sys.platform), normal(machine)
