"""Reading what a host shows of itself: the one place that touches it, once per process."""

from __future__ import annotations

import contextlib
import functools
import glob
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rlx.probe.host import facts
from rlx.probe.host.pci import BUS, repository_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LIMIT = 1 << 16
FILES = (
    *("/etc/os-release", "/usr/lib/os-release", "/proc/sys/kernel/random/boot_id"),
    *("/proc/driver/nvidia/version", "/proc/driver/nvidia/gpus/*/information"),
    *(f"/sys/module/{name}/version" for name in facts.DRIVERS),
    f"{BUS}/*/modalias",
)
NODES = re.compile(
    r"/dev/(?:(?:nvidia|apex_|neuron|davinci|hailo|accel)[\w-]*|nvmap|kfd|dxg|(?:dri|accel)/\w+)"
)
FOLDERS = ("/dev", "/dev/dri", "/dev/accel")
REPOSITORIES = ("/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids")
MUSL = "/lib/ld-musl-*.so.1"


@dataclass(frozen=True, slots=True)
class Captured:
    """What was read, as it was."""

    platform: str
    """`sys.platform`."""
    machine: str
    release: str = ""
    """The kernel's release, or the version of Windows."""
    libc: str = ""
    """What the C library says of itself: `glibc 2.36`, or musl's usage text."""
    macos: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """Text by path; a file that can't be read is not there."""
    modules: tuple[str, ...] = ()
    """The kernel modules of `facts.DRIVERS` that are loaded or built in."""
    nodes: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of the PCI ID Repository, by `vendor:device`."""


def capture() -> Captured:
    """Read this host. What can't be read is left out; never raises."""
    windows = sys.platform == "win32"
    files = dict(_texts())
    modules = [name for name in facts.DRIVERS if Path(f"/sys/module/{name}").is_dir()]
    return Captured(
        platform=sys.platform,
        machine=os.environ.get("PROCESSOR_ARCHITECTURE", "") if windows else os.uname().machine,
        release=_windows() if windows else os.uname().release,
        libc=_libc() if sys.platform == "linux" else "",
        macos=_macos() if sys.platform == "darwin" else "",
        files=files,
        modules=tuple(modules),
        nodes=tuple(sorted(filter(NODES.fullmatch, _listed()))),
        names=_names(files),
    )


@functools.cache
def host() -> facts.Host:
    """The facts of this host, read when they are first asked for."""
    return facts.read(capture())


if hasattr(os, "register_at_fork"):
    # A child may be moved to another container, or see other devices.
    os.register_at_fork(after_in_child=host.cache_clear)


def _texts() -> Iterator[tuple[str, str]]:
    if sys.platform != "linux":
        return
    for pattern in FILES:
        for path in sorted(glob.glob(pattern)):  # noqa: PTH207 - text, in the order of addresses
            with contextlib.suppress(OSError), open(path, "rb") as file:  # noqa: PTH123
                yield path, file.read(LIMIT).decode("utf-8", "replace")


def _listed() -> Iterator[str]:
    for folder in FOLDERS:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for one in entries:
                if not one.is_dir():
                    yield one.path


def _names(files: Mapping[str, str]) -> dict[str, str]:
    """Names for what computes, of the PCI ID Repository where it is installed."""
    found = facts.pci_devices(Captured("linux", "", files=files))
    wanted = {f"{one.vendor}:{one.device}" for one in found if one.role}
    for path in REPOSITORIES if wanted else ():
        with contextlib.suppress(OSError):
            return repository_names(Path(path).read_text("utf-8", "replace"), wanted)
    return {}


def _libc() -> str:
    with contextlib.suppress(ValueError, OSError, AttributeError):
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    for loader in sorted(glob.glob(MUSL)):  # noqa: PTH207
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            # Without an argument it prints its version and its usage, and ends.
            said = subprocess.run([loader], capture_output=True, timeout=5, check=False)
            return said.stderr.decode("utf-8", "replace")
    return ""


def _windows() -> str:
    version = getattr(sys, "getwindowsversion", lambda: None)()
    return "" if version is None else f"{version.major}.{version.minor}.{version.build}"


def _macos() -> str:
    import platform

    return platform.mac_ver()[0]
