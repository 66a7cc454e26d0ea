"""`routing:` of all layers: the strongest layer that sets device or backend replaces both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlx.device import DeviceSpec
from rlx.errors import InvalidDevice
from rlx.freeze.content import Routing
from rlx.freeze.faults import show
from rlx.freeze.nearest import later
from rlx.operations import Vocabulary
from rlx.operations.policies import DEFAULT, Dispatch, parse
from rlx.program.types import BARRIER
from rlx.registration import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from rlx.freeze.faults import Faults, Node
    from rlx.origin import Origin

UNSET = "auto"
KEYS = ("kernel_dispatch", "kernel_dispatch_overrides", "device", "backend")


@dataclass(slots=True)
class Routes:
    """The routing in force so far."""

    routing: Routing
    _written: dict[str, tuple[int, Origin]] = field(default_factory=dict)
    _devices: list[Setting] = field(default_factory=list)
    _backends: list[Setting] = field(default_factory=list)
    _overrides: list[tuple[Setting, Node]] = field(default_factory=list)

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
        overrides = settings.get("kernel_dispatch_overrides")
        if overrides is not None:
            self._overrides.append((overrides, at.below("kernel_dispatch_overrides")))
        device, backend = settings.get("device"), settings.get("backend")
        self._devices += [] if device is None else [device]
        self._backends += [] if backend is None else [backend]
        if device is None and backend is None:
            device, backend = old.device, old.backend
        dispatch = _dispatch(old.kernel_dispatch, settings.get("kernel_dispatch"), overrides)
        self.routing = Routing(dispatch, device, backend)

    def check(
        self,
        devices: Mapping[str, str],
        backends: Collection[str],
        vocabulary: Callable[[], Vocabulary],
        faults: Faults,
    ) -> None:
        """What any layer asks for exists; a base has been checked already."""
        for setting, node in self._overrides:
            _check_operations(setting.value, node, vocabulary(), faults)
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


def _dispatch(
    old: Setting | None, policy: Setting | None, overrides: Setting | None
) -> Setting | None:
    """The dispatch in force, as one text; its place is that of what was written last."""
    last = overrides or policy
    if last is None:
        return old
    before = parse(old.value if old is not None else DEFAULT)
    chosen = before.policy if policy is None else policy.value
    pairs = before.overrides
    if overrides is not None:
        pairs = tuple(sorted((Vocabulary.canonical(k), v) for k, v in overrides.value.items()))
    return Setting(str(Dispatch(chosen, pairs)), last.origin)


def _check_operations(
    overrides: Mapping[str, str], node: Node, vocabulary: Vocabulary, faults: Faults
) -> None:
    first: dict[str, str] = {}
    for name in overrides:
        canonical = vocabulary.canonical(name)
        if vocabulary.get(name) is None and name != BARRIER:
            faults.add(
                "unknown-operation",
                node.key(name),
                f"unknown operation {show(name)}",
                later(name, vocabulary.names, "name an operation of configs/operations.yaml."),
            )
        elif first.setdefault(canonical, name) != name:
            faults.add(
                "listed-twice",
                node.key(name),
                f"kernel_dispatch_overrides lists {canonical} twice: {name} is the same",
                "name each operation once.",
            )


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
