"""What to do about a probe's reason: whether the engine, the driver or the hardware is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.probe.checks import FOREIGN
from rlx.router.verdicts import ANOTHER_DEVICE, NOT_HERE, SEE_REASON

if TYPE_CHECKING:
    from rlx.device import Device
    from rlx.probe.host import Host
    from rlx.probe.process import Answer
    from rlx.registration import Probe, Registration

AGAIN = "probe again with `rlx devices --refresh`, or raise the probe's timeout."
ENGINE = ("module", "library")
"""Probes that find the engine itself."""


def fix(
    one: Registration, failed: Probe, answer: Answer, device: Device | None, host: Host
) -> str | None:
    """What helps; None: the probe's reason is all there is to say."""
    if failed.kind in FOREIGN and not failed.trusted:
        return f"read {failed.origin.path}, then run `rlx trust {failed.origin.path}`."
    if device is not None and host.lacks(device.pci):
        return _elsewhere(one, failed, device)
    if answer.transient:
        return AGAIN
    if failed.kind in ENGINE:
        return one.install
    if failed.kind == "platform":
        return ANOTHER_DEVICE
    if undriven := _undriven(device, host):
        return f"install the driver of {undriven}: it is here, and none is loaded."
    if failed.kind == "path":
        return f"install what makes {failed.values[0]}, or ask for another device."
    # The engine is there where an earlier probe has found it: installing it is no advice.
    found = any(probe.kind in ENGINE for probe in one.probes)
    return SEE_REASON if found else one.install


def _elsewhere(one: Registration, failed: Probe, device: Device) -> str:
    """Installing an engine does not help where its hardware is not."""
    then = one.install if failed.kind in ENGINE else None
    lacks = f"{NOT_HERE}no {device.name} hardware is on the PCI bus here"
    return f"{lacks} (where it is, {then})." if then else f"{lacks}."


def _undriven(device: Device | None, host: Host) -> str:
    """The device's hardware that no driver serves, by name."""
    found = () if device is None else host.having(device.pci)
    return ", ".join(str(one) for one in found if not host.driven(one))
