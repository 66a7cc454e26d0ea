"""The registry of the process, and what it says of backends and devices here."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING, Any

from rlx import settings
from rlx.errors import ConfigError, RlxError, SettingError, UnknownDevice
from rlx.program.types import Requirements
from rlx.registration import Coverage, Registration
from rlx.registries import Registry
from rlx.session.selection import open_best, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rlx.device import DeviceSpec
    from rlx.session.leases import Lease
    from rlx.settings import Request
    from rlx.settings.asked import DeviceArgument

_log = logging.getLogger("rlx")
ANYTHING = Requirements()
"""What a question needs that is not about a program."""


class _Default:
    """The default registry, once it was asked for; or why it can't be had."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.registry: Registry | None = None
        self.error: RlxError | None = None
        self.added: tuple[tuple[Registration, bool], ...] = ()
        """What was registered in code: it stays when the files are read again."""


_default = _Default()


def _unlock() -> None:
    _default.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    # Another thread may have held the lock when the process forked.
    os.register_at_fork(after_in_child=_unlock)


def forget() -> None:
    """Begin anew, as in a fresh process; what is open lives on."""
    global _default
    _default = _Default()


def load_registry(
    paths: Iterable[str | os.PathLike[str]] = (), *, cwd: str | os.PathLike[str] | None = None
) -> Registry:
    """A registry from the files as they are now: `RLX_CONFIG` and then `paths` come last, and win.

    Raises:
        ConfigError: a file is broken; it holds every fault.
        SettingError: a variable has a value that is not allowed.
    """
    named, only = settings.configuration()
    registry = Registry.load(tuple(paths), only=only, cwd=cwd, environment=named or None)
    for note in registry.notes:
        _log.warning("%s", note)
    for plugin in registry.plugins:
        if not plugin.active:
            faults = "\n".join(map(str, plugin.faults))
            _log.warning("%s is installed, but takes no part:\n%s", plugin, faults)
    return registry


def default_registry() -> Registry:
    """The registry of the process, loaded when it is first asked for.

    Raises:
        ConfigError, SettingError: loading failed; the same error is raised until `reload`.
    """
    registry = _default.registry
    return registry if registry is not None else _first()


def _first() -> Registry:
    with _default.lock:
        if _default.registry is not None:
            return _default.registry
        if _default.error is not None:
            raise _default.error.with_traceback(None)
        try:
            _default.registry = load_registry()
        except (ConfigError, SettingError) as error:
            _default.error = error
            raise
        return _default.registry


def reload() -> Registry:
    """Read the files and `RLX_CONFIG` again; what was registered in code is registered again.

    What is open lives on, and sessions keep the registry that they were made with.

    Raises:
        ConfigError, SettingError, DuplicateBackend: it failed; the last good registry stays.
    """
    with _default.lock:
        try:
            registry = load_registry()
            for registration, replace in _default.added:
                registry = registry.with_backend(registration, replace=replace)
        except RlxError as error:
            if _default.registry is None:
                _default.error = error
            raise
        _default.registry, _default.error = registry, None
        return registry


def register_backend(
    registration: Registration | None = None, *, replace: bool = False, **fields: Any
) -> Registration:
    """Register a backend in the default registry: a `Registration`, or its fields.

    As fields, `target` is the id where it is left out, and `factory` may be a function at the
    top level of a module in place of its name; lists are fine, and `coverage` may be a list of
    `rlx.Row`. Without coverage it claims nothing, and is chosen for nothing. All rules of the
    manifests hold.

    Raises:
        DuplicateBackend: the id is taken, and `replace` is False.
        ConfigError: a rule is broken; it holds every fault.
        TypeError: a field is missing or unknown.
    """
    if registration is None:
        registration = _from_fields(fields)
    elif fields:
        raise TypeError("pass a registration or its fields, not both")
    with _default.lock:
        registry = default_registry().with_backend(registration, replace=replace)
        _default.registry = registry
        _default.added = (*_default.added, (registration, replace))
    made = registry.get(registration.id)
    assert made is not None
    return made


def _from_fields(fields: dict[str, Any]) -> Registration:
    given: dict[str, Any] = {
        key: tuple(one) if isinstance(one, list) else one for key, one in fields.items()
    }
    if isinstance(given.get("coverage"), tuple):
        given["coverage"] = Coverage(given["coverage"])
    given.setdefault("target", given.get("id"))
    if callable(given.get("factory")):
        given["factory"] = _reference(given["factory"])
    if isinstance(given.get("options"), dict):
        given["options"] = tuple(given["options"].items())
    return Registration(**given)


def _reference(factory: Callable[..., Any]) -> str:
    """`module:attribute` of a function that can be found again by it."""
    from rlx.references import resolve

    reference = f"{getattr(factory, '__module__', '?')}:{getattr(factory, '__qualname__', '?')}"
    try:
        found = resolve(reference)
    except (ImportError, AttributeError):
        found = None
    if found is not factory:
        raise TypeError(f"factory {factory!r} can't be found as {reference}: name a function")
    return reference


def registered_devices() -> tuple[str, ...]:
    """The ids of the devices that an enabled backend is registered for, sorted."""
    return default_registry().registered_devices()


def available_devices() -> tuple[str, ...]:
    """The ids of the devices on which a backend can run here, sorted; this runs their probes."""
    return tuple(one for one in registered_devices() if is_available(one))


def is_available(device: str | DeviceSpec) -> bool:
    """True when a backend can run on the device here; this runs its probes and opens nothing.

    False for a device that nothing is registered for, or that is not known.

    Raises:
        InvalidDevice: the text is no device spec.
    """
    request = _on(device)
    return request is not None and settle(default_registry(), ANYTHING, request).backend is not None


def backend_for(device: str | DeviceSpec) -> Lease | None:
    """A lease on the best backend that opens on the device; None: nothing is registered for it.

    Raises:
        NoBackend: backends are registered for it, and none of them can be used; with the reasons.
        InvalidDevice: the text is no device spec.
    """
    request = _on(device)
    if request is None:
        return None
    return open_best(default_registry(), ANYTHING, request)[1]


def _on(device: str | DeviceSpec) -> Request | None:
    """The request for a device; None where it is not known or nothing is registered for it."""
    registry = default_registry()
    try:
        request = settings.make_request(registry, device=device)
    except UnknownDevice:
        return None
    served = registry.registered_devices()
    return request if any(spec.name in served for spec in request.devices) else None


def acquire(backend: str, device: DeviceArgument = None) -> Lease:
    """A lease on the backend of this id, opened where it is not open yet.

    Raises:
        UnknownBackend: no backend has the id.
        NoBackend: it can't be used here, or not on `device`; with the reasons.
        OpenFailed: its factory failed.
    """
    registry = default_registry()
    request = settings.make_request(registry, backend=backend, device=device)
    return open_best(registry, ANYTHING, request)[1]


def acquire_preferred() -> Lease:
    """A lease on the best backend that opens, by scope, environment and rank.

    Never a reference oracle, unless it is asked for by id. Backends that fail to open are passed
    over with a warning.

    Raises:
        NoBackend: none can be used; with every backend's reasons.
        OpenFailed: the backend that was asked for by id failed to open.
    """
    registry = default_registry()
    return open_best(registry, ANYTHING, settings.make_request(registry))[1]


__all__ = [
    "acquire",
    "acquire_preferred",
    "available_devices",
    "backend_for",
    "default_registry",
    "forget",
    "is_available",
    "load_registry",
    "register_backend",
    "registered_devices",
    "reload",
]
