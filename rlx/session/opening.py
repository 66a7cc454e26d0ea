"""Opening a backend: resolves its factory, calls it, and checks that it gave what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from rlx.errors import (
    ConfigError,
    ContractError,
    OpenFailed,
    RlxError,
    SettingError,
    printable,
    said,
)
from rlx.references import resolve
from rlx.session.opened import Opened

if TYPE_CHECKING:
    from rlx.backends.protocol import Backend
    from rlx.device import DeviceSpec
    from rlx.registration import Registration

MEMBERS = ("device", "version", "compile", "close")
"""What every backend has: the protocol's members."""


def open_backend(registration: Registration, spec: DeviceSpec) -> Backend:
    """Open a backend on a concrete device spec.

    Raises:
        OpenFailed: the factory could not be imported, raised, or returned no backend.
        ContractError: another device was opened than the one registered.
        SettingError: the factory refused an option: a fault of the configuration, which must
            not look like a backend that is missing.
    """
    what = f"{registration.id} on {spec}"
    if registration.factory is None:
        raise OpenFailed(
            f"opening {what} failed: it has no factory",
            fix="choose a backend that dispatches: run `rlx backends`.",
            origin=registration.origin if registration.origin.path else None,
        )
    try:
        factory = resolve(registration.factory)
        opened = factory(spec, dict(registration.options))
        missing = [name for name in MEMBERS if not hasattr(opened, name)]
        device = None if missing else opened.device
    except (SettingError, ConfigError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a factory does is its failure
        _failed(registration, what, error)
    if missing:
        raise OpenFailed(
            f"opening {what} failed: {registration.factory} returned "
            f"{type(opened).__name__}, which has no {' and no '.join(missing)}",
            fix="report this to the backend's author.",
        )
    if device != registration.device:
        broken = ContractError(
            f"{registration.id} is registered for {registration.device}, but opened {device!r:.60}"
        )
        try:
            opened.close()
        except Exception as error:  # noqa: BLE001 - the broken contract matters more
            broken.add_note(f"closing it failed as well: {cause_text(error)}")
        raise broken
    return Opened(opened, registration)


def cause_text(error: BaseException) -> str:
    """An exception on one line, with what caused it: never empty."""
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(parts) < 4:
        text = _said(seen)
        name = type(seen).__name__
        shown = " ".join(text.split())
        parts.append(f"{name}: {printable(shown)}" if shown else f"{name} without a message")
        seen = None if seen.__cause__ is seen else seen.__cause__
    return ", caused by ".join(parts)


def _said(error: BaseException) -> str:
    try:
        return said(error)
    except Exception:  # noqa: BLE001 - the error matters, not that it can't say what it is
        return ""


def _failed(registration: Registration, what: str, error: BaseException) -> NoReturn:
    if isinstance(error, ModuleNotFoundError) and registration.install:
        fix: str | None = registration.install
    else:
        fix = error.fix if isinstance(error, RlxError) else None
    raise OpenFailed(f"opening {what} failed: {cause_text(error)}", fix=fix) from error
