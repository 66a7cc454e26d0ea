"""Scopes: what `with rlx.use("cuda"):` asks for inside its block, held in a context variable."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlx.errors import SettingError
from rlx.origin import Origin
from rlx.settings.asked import read_backend, read_devices, read_require
from rlx.settings.variables import PRECISION, PRECISION_POLICY, choice, dispatch

if TYPE_CHECKING:
    from types import TracebackType

    from rlx.device import DeviceSpec
    from rlx.settings.asked import DeviceArgument, RequireArgument

ORIGIN = Origin("rlx.use(...)", layer="scope")


@dataclass(frozen=True, slots=True)
class Scope:
    """All that the scopes around the caller ask for, the innermost first."""

    devices: tuple[DeviceSpec, ...] = ()
    backend: str | None = None
    require: tuple[str, ...] = ()
    precision: str | None = None
    precision_policy: str | None = None
    kernel_dispatch: str | None = None
    outer: Scope | None = field(default=None, compare=False, repr=False)
    owner: object = field(default=None, compare=False, repr=False)


NO_SCOPE = Scope()
_current: ContextVar[Scope | None] = ContextVar("rlx_scope", default=None)


def current_scope() -> Scope:
    """The scope that the caller runs in."""
    return _current.get() or NO_SCOPE


def scope_stamp() -> Scope | None:
    """The scope, None outside of any; equal while it asks for the same."""
    return _current.get()


class use:  # noqa: N801 - reads as a word: `with rlx.use("cuda"):`
    """Ask for a device, a backend or more, for all that runs inside the `with` block.

    An argument still wins over it; it wins over the environment and the files. Inner blocks win
    over outer ones: device and backend are one request, so an inner block that names either
    replaces both; what is required adds up. The block is a context variable's: asyncio tasks
    started inside inherit it, and it is undone on every way out. A new thread starts without it,
    unless it is run by `contextvars.copy_context().run`. One `use` may be entered again.

    Raises:
        InvalidDevice, SettingError: what is asked for is not written right. Whether the names
            exist is asked when something is routed.
    """

    __slots__ = ("_asked",)

    def __init__(
        self,
        device: DeviceArgument = None,
        *,
        backend: str | None = None,
        require: RequireArgument = (),
        precision: str | None = None,
        precision_policy: str | None = None,
        kernel_dispatch: str | None = None,
    ):
        def chosen(value: str | None, allowed: tuple[str, ...]) -> str | None:
            return None if value is None else choice(value, allowed, ORIGIN)

        self._asked = Scope(
            read_devices(device),
            read_backend(backend, ORIGIN),
            read_require(require, ORIGIN),
            chosen(precision, PRECISION),
            chosen(precision_policy, PRECISION_POLICY),
            None if kernel_dispatch is None else dispatch(kernel_dispatch, ORIGIN),
        )

    def __enter__(self) -> None:
        outer, asked = current_scope(), self._asked
        place = asked if asked.devices or asked.backend else outer
        _current.set(
            Scope(
                place.devices,
                place.backend,
                tuple(dict.fromkeys((*outer.require, *asked.require))),
                asked.precision or outer.precision,
                asked.precision_policy or outer.precision_policy,
                asked.kernel_dispatch or outer.kernel_dispatch,
                _current.get(),
                self,
            )
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        scope = _current.get()
        if scope is None or scope.owner is not self:
            raise SettingError(
                "this scope is not the innermost one here, so it cannot be left",
                fix="enter and leave a scope in the same task or thread, the innermost first.",
                origin=ORIGIN,
            )
        _current.set(scope.outer)
