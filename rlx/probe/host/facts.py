"""The facts of a host, made from what was captured of it; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.probe.host.pci import BUS, PciDevice, devices
from rlx.probe.host.platforms import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rlx.probe.host.capture import Captured

DRIVERS = {
    "nvidia": "10de",
    "nouveau": "10de",
    "amdgpu": "1002",
    "amdxdna": "1022",
    "i915": "8086",
    "xe": "8086",
    "intel_vpu": "8086",
    "gasket": "1ac1",
}
"""The kernel's drivers of what computes, and the PCI vendor of their hardware."""
ELSEWHERE = ("/dev/dxg", "/dev/nvmap")
"""Nodes of GPUs that no PCI bus lists: of Windows below WSL2, and of NVIDIA's Jetson boards."""
_NVIDIA = re.compile(r"Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)")
_MUSL = re.compile(r"^Version (\S+)", re.MULTILINE)
_MODEL = re.compile(r"^Model:\s*(.+?)\s*$", re.MULTILINE)
_GPUS = "/proc/driver/nvidia/gpus/"


@dataclass(frozen=True, slots=True)
class Host:
    """What is known of a machine and its system; names are lower case, versions as they are."""

    system: str
    """`linux`, `macos`, `windows`, or what else `sys.platform` says."""
    machine: str
    """`x86_64`, `arm64`, or what else the kernel says."""
    distribution: str = ""
    """Of Linux: `debian`; else empty."""
    version: str = ""
    """Of the distribution, of macOS or of Windows; empty where it is not told."""
    kernel: str = ""
    libc: str = ""
    """`glibc`, `musl`, or empty."""
    libc_version: str = ""
    pci: tuple[PciDevice, ...] | None = None
    """What is on the PCI bus, in the order of addresses; None: no bus can be seen here."""
    nodes: tuple[str, ...] = ()
    """Device nodes of what computes, sorted."""
    drivers: tuple[tuple[str, str], ...] = ()
    """The kernel's drivers that are loaded, each with its version or that of the kernel."""
    boot: str = ""
    """The kernel's id of this boot."""

    @property
    def computing(self) -> tuple[PciDevice, ...]:
        """GPUs and NPUs on the PCI bus."""
        return tuple(one for one in self.pci or () if one.role)

    def having(self, patterns: Iterable[str]) -> tuple[PciDevice, ...]:
        """The PCI devices that fit one of the patterns."""
        wanted = tuple(patterns)
        return tuple(one for one in self.pci or () if any(map(one.fits, wanted)))

    def lacks(self, patterns: Iterable[str]) -> bool:
        """True when hardware that fits a pattern would be seen, and none is there.

        False where no pattern is given, no bus is seen (macOS, Windows, a container without
        /sys), or GPUs may be there that no bus lists.
        """
        wanted = tuple(patterns)
        seen = bool(wanted and self.pci) and not set(ELSEWHERE) & set(self.nodes)
        return seen and not self.having(wanted)

    def driven(self, device: PciDevice) -> bool:
        """True when a driver of the device's vendor is loaded, or none is known."""
        loaded = {DRIVERS.get(name) for name, _ in self.drivers}
        return device.vendor in loaded or device.vendor not in DRIVERS.values()


def read(captured: Captured) -> Host:
    """The facts, from what was captured; never raises."""
    files = captured.files
    system = normal(captured.platform)
    release = _release(files.get("/etc/os-release") or files.get("/usr/lib/os-release") or "")
    libc, libc_version = _libc(captured.libc)
    version = {"macos": captured.macos, "windows": captured.release}.get(system)
    return Host(
        system=system,
        machine=normal(captured.machine),
        distribution=release.get("ID", "").lower(),
        version=release.get("VERSION_ID", "") if version is None else version,
        kernel="" if system == "windows" else captured.release,
        libc=libc,
        libc_version=libc_version,
        pci=pci_devices(captured) if any(path.startswith(BUS) for path in files) else None,
        nodes=captured.nodes,
        drivers=tuple(
            (name, _version(name, files) or f"kernel {captured.release}")
            for name in captured.modules
        ),
        boot=files.get("/proc/sys/kernel/random/boot_id", "").strip(),
    )


def pci_devices(captured: Captured) -> tuple[PciDevice, ...]:
    """The PCI devices, with the names that NVIDIA's driver and the PCI ID Repository give."""
    models = dict(captured.names)
    for path, text in captured.files.items():
        said = _MODEL.search(text) if path.startswith(_GPUS) else None
        if said is not None:
            models[path.removeprefix(_GPUS).partition("/")[0]] = said[1]
    return tuple(devices(captured.files, models))


def _version(driver: str, files: Mapping[str, str]) -> str:
    if driver == "nvidia":
        said = _NVIDIA.search(files.get("/proc/driver/nvidia/version", ""))
        if said is not None:
            return said[1]
    return files.get(f"/sys/module/{driver}/version", "").strip()


def _release(text: str) -> dict[str, str]:
    """The assignments of an `os-release` file."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip("\"'") for key, value in pairs}


def _libc(said: str) -> tuple[str, str]:
    """Name and version, from `glibc 2.36` or from what musl's loader prints."""
    if said.startswith("musl"):
        version = _MUSL.search(said)
        return "musl", "" if version is None else version[1]
    name, _, number = said.strip().partition(" ")
    return name.lower(), number
