"""What a caller passes for device, backend and require, read into what a request holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rlx.device import DeviceSpec, shown
from rlx.errors import InvalidDevice, SettingError
from rlx.settings.variables import UNSET

if TYPE_CHECKING:
    from rlx.origin import Origin

DeviceArgument = str | DeviceSpec | Iterable[str | DeviceSpec] | None
RequireArgument = str | Iterable[str]


def read_devices(device: object) -> tuple[DeviceSpec, ...]:
    """The device specs of a `device` argument, in order; none for None and `auto`.

    It is a text (`cuda`, `cuda:1,cpu`), a `DeviceSpec`, or several of these.

    Raises:
        InvalidDevice: it is anything else, is not written right, or names a device twice.
    """
    if device is None or (isinstance(device, str) and device.strip().lower() == UNSET):
        return ()
    if isinstance(device, DeviceSpec):
        return (DeviceSpec.parse(str(device)),)
    if isinstance(device, str):
        return DeviceSpec.parse_request(device)
    if not isinstance(device, list | tuple):
        raise InvalidDevice(
            f"a device must be text, a DeviceSpec or a list of them, got {shown(device)}"
        )
    specs = tuple(
        DeviceSpec.parse(str(one) if isinstance(one, DeviceSpec) else one) for one in device
    )
    for spec in specs:
        if specs.count(spec) > 1:
            raise InvalidDevice(f"the device list names {spec} twice", fix="name each device once.")
    if not specs:
        raise InvalidDevice("the device list is empty", fix="name a device, or pass None for any.")
    return specs


def read_backend(backend: object, origin: Origin) -> str | None:
    """The id of a `backend` argument, in lower case; None for None and `auto`.

    Raises:
        SettingError: it is not text, or empty.
    """
    if backend is None:
        return None
    name = backend.strip().lower() if isinstance(backend, str) else ""
    if not name:
        raise SettingError(
            f"a backend must be an id, got {shown(backend)}",
            fix="name one, such as numpy; `rlx backends` lists them.",
            origin=origin,
        )
    return None if name == UNSET else name


def read_require(require: object, origin: Origin) -> tuple[str, ...]:
    """The capabilities of a `require` argument, each once, in order.

    Raises:
        SettingError: it is not a name or a list of names.
    """
    names = (require,) if isinstance(require, str) else require
    if names is None:
        return ()
    if not isinstance(names, list | tuple | set | frozenset) or not all(
        isinstance(name, str) and name.strip() for name in names
    ):
        raise SettingError(
            f"require must be a list of capability names, got {shown(require)}",
            fix="pass names, such as ['deterministic'].",
            origin=origin,
        )
    ordered = sorted(names) if isinstance(names, set | frozenset) else names
    return tuple(dict.fromkeys(name.strip().lower() for name in ordered))
