"""Devices, aliases and capabilities of all layers, and their rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlx.device import Device
from rlx.freeze import names
from rlx.freeze.content import Capability
from rlx.freeze.faults import show

if TYPE_CHECKING:
    from rlx.freeze.content import Content
    from rlx.freeze.faults import Faults, Node
    from rlx.origin import Origin


@dataclass(slots=True)
class Declared:
    """What has been declared so far, in layer order."""

    devices: dict[str, Device] = field(default_factory=dict)
    capabilities: dict[str, Capability] = field(default_factory=dict)
    places: dict[str, Origin] = field(default_factory=dict)
    """Of each device and alias, by name."""

    @classmethod
    def of(cls, base: Content) -> Declared:
        """What a frozen base declares."""
        return cls(
            {one.id: one for one in base.devices},
            {one.id: one for one in base.capabilities},
            dict(base.places),
        )

    def names(self) -> dict[str, str]:
        """Each device id and alias, and the device's id."""
        ids = {one: one for one in self.devices}
        aliases = {alias: one.id for one in self.devices.values() for alias in one.aliases}
        return {**aliases, **ids}

    def ids(self) -> frozenset[str]:
        """The ids of the capabilities."""
        return frozenset(self.capabilities)

    def add(self, node: Node, faults: Faults) -> None:
        """The devices and capabilities of one manifest."""
        model = node.model
        for index, one in enumerate(model.devices):
            device = Device(one.id, one.name, one.aliases, one.masks, one.pci)
            self._device(device, node.below("devices", index), faults)
        for index, one in enumerate(model.capabilities):
            place = node.below("capabilities", index)
            names.capability(one.id, node.manifest.layer, place.at("id"), faults)
            made = Capability(one.id, one.description, place.at("id"))
            earlier = self.capabilities.setdefault(one.id, made)
            if earlier is not made and not _same_elsewhere(
                made == earlier, made.origin, earlier.origin
            ):
                _twice("capability", one.id, made.origin, earlier.origin, faults)

    def _device(self, device: Device, place: Node, faults: Faults) -> None:
        origin = place.at("id")
        names.identity("a device's id", device.id, origin, faults)
        names.reserved("a device's id", device.id, origin, faults)
        for key in ("aliases", "masks", "pci"):
            faults.twice(key, getattr(device, key), place.below(key))
        for index, pattern in enumerate(device.pci):
            names.pci(pattern, place.at("pci", index), faults)
        earlier = self.devices.get(device.id)
        if earlier is not None:
            if not _same_elsewhere(device == earlier, origin, self.places[device.id]):
                _twice("device", device.id, origin, self.places[device.id], faults)
            return
        self.devices[device.id] = device
        self._name(device.id, "device id", origin, faults)
        for index, alias in enumerate(device.aliases):
            where = place.at("aliases", index)
            names.identity("an alias", alias, where, faults)
            names.reserved("an alias", alias, where, faults)
            if alias not in device.aliases[:index]:
                self._name(alias, "alias", where, faults)

    def _name(self, name: str, what: str, origin: Origin, faults: Faults) -> None:
        earlier = self.places.setdefault(name, origin)
        if earlier is not origin:
            faults.add(
                "alias-clash",
                origin,
                f"{what} {show(name)} is already a device's id or alias, at {earlier}",
                "choose another name.",
                earlier,
            )


def _same_elsewhere(same: bool, origin: Origin, earlier: Origin) -> bool:
    """Two files may both declare the very same device: two plugins for one kind of hardware."""
    return same and origin.path != earlier.path


def _twice(what: str, name: str, origin: Origin, earlier: Origin, faults: Faults) -> None:
    faults.add(
        "duplicate-id",
        origin,
        f"{what} {show(name)} is already declared, at {earlier}",
        "delete one of them, or choose another id.",
        earlier,
    )
