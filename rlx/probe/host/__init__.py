"""Host facts: the machine, its system, and the hardware on its buses; read once per process."""

from rlx.probe.host.capture import host
from rlx.probe.host.facts import Host, read
from rlx.probe.host.pci import PciDevice

__all__ = ["Host", "PciDevice", "host", "read"]
