"""PCI devices: what a bus lists, in names that people know, and patterns as `lspci -d` has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

BUS = "/sys/bus/pci/devices"
_ALIAS = re.compile(
    r"pci:v0000([0-9A-F]{4})d0000([0-9A-F]{4})sv[0-9A-F]{8}sd[0-9A-F]{8}bc([0-9A-F]{2}sc[0-9A-F]{2})i"
)
"""A function's `modalias`: vendor, device, subsystem's vendor and device, class, subclass."""
VENDORS = {
    "1002": "AMD",
    "1022": "AMD",
    "106b": "Apple",
    "10de": "NVIDIA",
    "1234": "QEMU",
    "1414": "Microsoft",
    "15ad": "VMware",
    "17cb": "Qualcomm",
    "1ac1": "Coral",
    "1ae0": "Google",
    "1af4": "virtio",
    "1d0f": "Amazon",
    "1da3": "Habana",
    "1e52": "Tenstorrent",
    "1e60": "Hailo",
    "8086": "Intel",
}
"""The vendors of what computes, by PCI id; from the PCI ID Repository."""
ACCELERATORS = (
    *("::12xx", "1022:1502", "1022:17f0", "1ac1:089a", "1ae0:0027", "1ae0:0056", "1ae0:005e"),
    *("1ae0:0062", "1ae0:0063", "1ae0:006f", "1ae0:0076"),
)
"""The class of processing accelerators; AMD's XDNA, Coral's and Google's TPUs are of other ones."""
DISPLAYS = ("::03xx",)


@dataclass(frozen=True, slots=True)
class PciDevice:
    """One function on a PCI bus; ids are four lower-case hexadecimal digits."""

    address: str
    """As Linux has it: `0000:01:00.0`."""
    vendor: str
    device: str
    kind: str
    """The class without the programming interface: `0302` is a 3D controller."""
    model: str = ""
    """What the driver or the PCI ID Repository calls it; empty: neither is here."""

    def fits(self, pattern: str) -> bool:
        """True for a pattern `[vendor]:[device][:class]`: `10de::03xx`."""
        parts = (*pattern.lower().split(":"), "", "")[:3]
        own = (self.vendor, self.device, self.kind)
        pairs = zip(own, parts, strict=True)
        return all(fnmatchcase(value, part.replace("x", "?") or "*") for value, part in pairs)

    @property
    def role(self) -> str | None:
        """`gpu`, `npu`, or None for what does not compute."""
        if any(map(self.fits, DISPLAYS)):
            return "gpu"
        return "npu" if any(map(self.fits, ACCELERATORS)) else None

    def __str__(self) -> str:
        vendor = VENDORS.get(self.vendor, self.vendor)
        if not self.model:
            return f"{vendor} {(self.role or 'device').upper()} [{self.vendor}:{self.device}]"
        return self.model if self.model.startswith(vendor) else f"{vendor} {self.model}"


def devices(files: Mapping[str, str], models: Mapping[str, str]) -> Iterator[PciDevice]:
    """The devices that a captured bus lists, in the order of their addresses.

    `models` has names by address, or by `vendor:device`.
    """
    for path in sorted(files):
        said = _ALIAS.match(files[path]) if path.startswith(f"{BUS}/") else None
        if said is not None:
            address = path.split("/")[-2]
            vendor, device, kind = (said[at].lower() for at in (1, 2, 3))
            model = models.get(address) or models.get(f"{vendor}:{device}") or ""
            yield PciDevice(address, vendor, device, "".join(kind.split("sc")), model)


def repository_names(text: str, wanted: Iterable[str]) -> dict[str, str]:
    """The names of these `vendor:device` ids in the text of a `pci.ids` file.

    A vendor's line begins at the margin, its devices' lines below it with one tab.
    """
    ids, found, vendor = set(wanted), {}, ""
    vendors = {one.partition(":")[0] for one in ids}
    for line in text.splitlines():
        if line[:1] not in ("\t", "#", ""):
            vendor = line[:4] if line[:4] in vendors else ""
        elif vendor and line[:1] == "\t" and line[1:2] != "\t":
            key = f"{vendor}:{line[1:5]}"
            if key in ids:
                found[key] = line[5:].strip()
    return found
