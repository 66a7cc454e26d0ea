"""The opened backends of this process: opened once, shared by leases, closed with the last."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from rlx.device import DeviceSpec
from rlx.errors import SessionClosed
from rlx.session.closing import Closing
from rlx.session.leases.slots import Slot, current
from rlx.session.opened import barrier_capabilities

if TYPE_CHECKING:
    from rlx.backends.protocol import Backend
    from rlx.registration import Registration


class Lease(Closing):
    """The right to use an opened backend, until `close`; a `with` block closes it.

    A lease that is dropped without being closed ends when it is collected. In a forked child, the
    leases of the parent are closed: the child opens its own.
    """

    __slots__ = ("__weakref__", "_end", "_slot")

    def __init__(self, slot: Slot):
        self._slot = slot
        self._end = weakref.finalize(self, slot.cache.drop, slot)
        self._end.atexit = False  # what is open at exit is closed as a whole, users first

    @property
    def backend(self) -> Backend:
        """The opened backend.

        Raises:
            SessionClosed: the lease was closed, or made by the process that forked this one.
        """
        if self._slot.cache.stale:
            raise SessionClosed(
                f"the lease on {self._slot} belongs to the process that forked this one",
                fix="acquire the backend, or make a session, in this process.",
            )
        opened = self._slot.backend
        if opened is None or not self._end.alive:
            raise SessionClosed(f"the lease on {self._slot} is closed")
        return opened

    @property
    def closed(self) -> bool:
        """True when it can't be used any more: it was closed, or this is a forked child."""
        return not self._end.alive or self._slot.cache.stale

    @property
    def id(self) -> str:
        """The backend's id."""
        return self._slot.registration.id

    @property
    def registration(self) -> Registration:
        """The record that the backend was opened from."""
        return self._slot.registration

    @property
    def spec(self) -> DeviceSpec:
        """The device that was opened, with its index."""
        return self._slot.spec

    def close(self) -> None:
        """End the lease; the last one closes the backend. Calling it again does nothing.

        Raises:
            ExecutionError: closing the backend failed; it is no longer used all the same.
        """
        cache = self._slot.cache
        if self._end.detach() is not None and not cache.stale:
            cache.end(self._slot)

    def __repr__(self) -> str:
        state = "" if self._end.alive else ", closed"
        return f"<Lease {self._slot}{state}>"


def acquire(registration: Registration, spec: DeviceSpec) -> Lease:
    """Lease a backend on a device spec, opening it where it is not open.

    However many threads ask at once, the factory runs once; they share what it returns or raises.
    A failure is not kept: the next question opens again, and says so if it first failed otherwise.

    Raises:
        OpenFailed: the factory could not be imported, raised, or returned no backend.
        ContractError: the backend opened another device than it is registered for, or asks for
            itself while it is opened, be it by way of others.
        SettingError: the factory refused an option of the registration.
    """
    cache = current()
    cache.drain()
    spec = DeviceSpec(registration.device, spec.index or 0)
    held = (registration.options, *barrier_capabilities(registration))
    key = (registration.id, spec, registration.factory, repr(held))
    while True:
        with cache.guard:
            slot = cache.slots.get(key)
            if slot is None:
                slot = cache.slots[key] = Slot(cache, key, registration, spec)
                break
            if slot.backend is not None and slot.leases:
                slot.leases += 1
                return Lease(slot)
        cache.wait(slot)
        if slot.error is not None:
            # A copy for each thread, since raising writes to the exception.
            error = type(slot.error)(slot.error.message, fix=slot.error.fix)
            raise error from slot.error.__cause__
    cache.open(slot)
    return Lease(slot)


def opened() -> dict[tuple[str, str], int]:
    """How many leases each opened backend has, by its id and device spec."""
    cache = current()
    cache.drain()
    with cache.guard:
        held = [one for one in cache.slots.values() if one.leases]
    return {(one.registration.id, str(one.spec)): one.leases for one in held}
