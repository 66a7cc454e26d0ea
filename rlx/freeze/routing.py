"""`routing:` of all layers: the strongest layer that sets device or backend replaces both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlx.device import DeviceSpec
from rlx.errors import InvalidDevice
from rlx.freeze.content import Routing
from rlx.freeze.faults import show
from rlx.freeze.nearest import later
from rlx.registration import Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rlx.freeze.faults import Faults, Node
    from rlx.origin import Origin

UNSET = "auto"
KEYS = ("kernel_dispatch", "device", "backend")


@dataclass(slots=True)
class Routes:
    """The routing in force so far."""

    routing: Routing
    _written: dict[str, tuple[int, Origin]] = field(default_factory=dict)
    _devices: list[Setting] = field(default_factory=list)
    _backends: list[Setting] = field(default_factory=list)

    def add(self, node: Node, number: int, faults: Faults) -> None:
        """The routing of one manifest of layer `number`."""
        model = node.model.routing
        if model is None:
            return
        at = node.below("routing")
        settings = {
            key: Setting(value, at.at(key))
            for key in KEYS
            if (value := getattr(model, key)) is not None
        }
        for key, setting in settings.items():
            layer, earlier = self._written.get(key, (-1, setting.origin))
            self._written[key] = (number, setting.origin)
            if layer == number:
                faults.add(
                    "routing-conflict",
                    setting.origin,
                    f"routing.{key} is also set by a file of the same layer, at {earlier}",
                    "keep one of them.",
                    earlier,
                )
        old = self.routing
        device, backend = settings.get("device"), settings.get("backend")
        self._devices += [] if device is None else [device]
        self._backends += [] if backend is None else [backend]
        if device is None and backend is None:
            device, backend = old.device, old.backend
        self.routing = Routing(
            settings.get("kernel_dispatch", old.kernel_dispatch), device, backend
        )

    def check(self, devices: Mapping[str, str], backends: Collection[str], faults: Faults) -> None:
        """What any layer asks for exists; a base has been checked already."""
        for setting in self._devices:
            _check_devices(setting, devices, faults)
        for setting in self._backends:
            name = setting.value.strip().lower()
            if name not in backends and name != UNSET:
                faults.add(
                    "unknown-backend",
                    setting.origin,
                    f"unknown backend {show(setting.value)}",
                    later(name, backends, "run `rlx backends` to see the registered ids."),
                )

    def frozen(self) -> Routing:
        """The routing in force; `auto` asks for nothing."""
        routing = self.routing
        return Routing(routing.kernel_dispatch, _set(routing.device), _set(routing.backend))


def _check_devices(setting: Setting, devices: Mapping[str, str], faults: Faults) -> None:
    if setting.value.strip().lower() == UNSET:
        return
    try:
        specs = DeviceSpec.parse_request(setting.value)
    except InvalidDevice as error:
        faults.add("invalid-device", setting.origin, error.message, error.fix)
        return
    asked: set[DeviceSpec] = set()
    for spec in specs:
        named = DeviceSpec(devices.get(spec.name, spec.name), spec.index)
        if named in asked:
            faults.add(
                "listed-twice",
                setting.origin,
                f"device lists {named} twice: {spec} is the same",
                "name each device once.",
            )
        asked.add(named)
        if spec.name not in devices:
            faults.add(
                "unknown-device",
                setting.origin,
                f"unknown device {show(spec.name)}",
                later(spec.name, devices, "declare it under devices."),
            )


def _set(setting: Setting | None) -> Setting | None:
    return None if setting is None or setting.value.strip().lower() == UNSET else setting
