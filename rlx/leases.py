"""The opened backends of this process: opened once, shared by leases, closed with the last."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING

from rlx.device import DeviceSpec
from rlx.errors import ContractError, ExecutionError, OpenFailed, SessionClosed
from rlx.opening import cause_text, open_backend

if TYPE_CHECKING:
    from types import TracebackType

    from rlx.backends.protocol import Backend
    from rlx.registration import Registration

_log = logging.getLogger("rlx")
_Key = tuple[str, DeviceSpec, str | None, str]


class _Slot:
    """One backend on one device spec, from the first question for it until its last lease ends.

    `ready` is set whenever a waiting thread should look again: opened, failed or closed.
    """

    def __init__(self, key: _Key, registration: Registration, spec: DeviceSpec):
        self.key = key
        self.registration = registration
        self.spec = spec
        self.backend: Backend | None = None
        self.leases = 0
        self.ready = threading.Event()
        self.owner = threading.get_ident()
        self.error: OpenFailed | ContractError | None = None

    def __str__(self) -> str:
        return f"{self.registration.id} on {self.spec}"


class _Cache:
    """All slots of this process; a forked child begins with an empty one."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.slots: dict[_Key, _Slot] = {}
        self.first_causes: dict[_Key, str] = {}
        self.dropped: deque[_Slot] = deque()
        """Slots whose leases the garbage collector ended while the guard was taken."""


_cache = _Cache()


def _forget_parent() -> None:
    global _cache
    _cache = _Cache()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)


class Lease:
    """The right to use an opened backend, until `close`; a `with` block closes it.

    A lease that is dropped without being closed ends when it is collected. In a forked child, the
    leases of the parent are closed: the child opens its own.
    """

    __slots__ = ("__weakref__", "_cache", "_end", "_slot")

    def __init__(self, cache: _Cache, slot: _Slot):
        self._cache = cache
        self._slot = slot
        self._end = weakref.finalize(self, _drop, cache, slot)
        self._end.atexit = False  # what is open at exit is closed as a whole, below

    @property
    def backend(self) -> Backend:
        """The opened backend.

        Raises:
            SessionClosed: the lease was closed, or made by the process that forked this one.
        """
        if self._cache is not _cache:
            raise SessionClosed(
                f"the lease on {self._slot} belongs to the process that forked this one",
                fix="acquire the backend, or make a session, in this process.",
            )
        opened = self._slot.backend
        if opened is None or not self._end.alive:
            raise SessionClosed(f"the lease on {self._slot} is closed")
        return opened

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
        if self._end.detach() is not None and self._cache is _cache:
            _drain()
            with _cache.guard:
                last = _ended(self._slot)
            if last:
                _close(self._slot)

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self._end.alive else ", closed"
        return f"<Lease {self._slot}{state}>"


def acquire(registration: Registration, spec: DeviceSpec) -> Lease:
    """Lease a backend on a device spec, opening it where it is not open.

    However many threads ask at once, the factory runs once; they share what it returns or raises.
    A failure is not kept: the next question opens again, and says so if it first failed otherwise.

    Raises:
        OpenFailed: the factory could not be imported, raised, or returned no backend.
        ContractError: the backend opened another device than it is registered for.
        SettingError: the factory refused an option of the registration.
    """
    _drain()
    spec = DeviceSpec(registration.device, spec.index or 0)
    key = (registration.id, spec, registration.factory, repr(registration.options))
    while True:
        with _cache.guard:
            slot = _cache.slots.get(key)
            if slot is None:
                slot = _cache.slots[key] = _Slot(key, registration, spec)
                break
            if slot.backend is not None and slot.leases:
                slot.leases += 1
                return Lease(_cache, slot)
        if slot.owner == threading.get_ident():
            raise ContractError(f"{slot} asks for itself while it is opened or closed")
        slot.ready.wait()
        if slot.error is not None:
            raise _again(slot.error)
    _open(slot)
    return Lease(_cache, slot)


def _open(slot: _Slot) -> None:
    """Run the factory for everybody who waits for this slot."""
    try:
        backend = open_backend(slot.registration, slot.spec)
    except BaseException as error:
        if isinstance(error, OpenFailed | ContractError):
            slot.error = _with_first_cause(slot.key, error)
        with _cache.guard:
            _cache.slots.pop(slot.key, None)
        slot.ready.set()
        if slot.error is not None and slot.error is not error:
            raise slot.error from error.__cause__
        raise
    with _cache.guard:
        slot.backend = backend
        slot.leases = 1
        _cache.first_causes.pop(slot.key, None)
    slot.ready.set()
    # Exit handlers run last in, first out: ours must run before those of any engine.
    atexit.unregister(_close_all)
    atexit.register(_close_all)


def _with_first_cause(key: _Key, error: OpenFailed | ContractError) -> OpenFailed | ContractError:
    """The error, telling the first cause where a retry failed in another way."""
    first = _cache.first_causes.setdefault(key, error.message)
    if first == error.message:
        return error
    return type(error)(f"{error.message} (it first failed so: {first})", fix=error.fix)


def _again(error: OpenFailed | ContractError) -> OpenFailed | ContractError:
    """A copy of an error for another thread, since raising writes to the exception."""
    copy = type(error)(error.message, fix=error.fix, origin=error.origin)
    copy.__cause__ = error.__cause__
    return copy


def _ended(slot: _Slot) -> bool:
    """Count one lease less, under the guard; True when the slot is to be closed by the caller."""
    slot.leases -= 1
    if slot.leases:
        return False
    slot.ready = threading.Event()  # who asks now waits for the closing, then opens anew
    slot.owner = threading.get_ident()
    return True


def _close(slot: _Slot) -> None:
    backend, slot.backend = slot.backend, None
    try:
        if backend is not None:
            backend.close()
    except Exception as error:
        raise ExecutionError(
            f"closing {slot} failed: {cause_text(error)}", fix="see the cause above."
        ) from error
    finally:
        with _cache.guard:
            _cache.slots.pop(slot.key, None)
        slot.ready.set()


def _drop(cache: _Cache, slot: _Slot) -> None:
    """End a lease that was collected; this may happen anywhere, so it waits for nothing."""
    if cache is not _cache:
        return
    if not cache.guard.acquire(blocking=False):
        cache.dropped.append(slot)
        return
    try:
        last = _ended(slot)
    finally:
        cache.guard.release()
    if last:
        _close_quietly(slot)


def _drain() -> None:
    """End the leases that could not be ended when they were collected."""
    while _cache.dropped:
        try:
            slot = _cache.dropped.popleft()
        except IndexError:  # another thread took the last one
            return
        with _cache.guard:
            last = _ended(slot)
        if last:
            _close_quietly(slot)


def _close_quietly(slot: _Slot) -> None:
    try:
        _close(slot)
    except ExecutionError as error:
        _log.error("%s", error)


def _close_all() -> None:
    """Close everything that is still open when the interpreter exits."""
    _drain()
    for slot in tuple(_cache.slots.values()):
        _close_quietly(slot)


def opened() -> dict[tuple[str, str], int]:
    """How many leases each opened backend has, by its id and device spec."""
    _drain()
    with _cache.guard:
        held = [one for one in _cache.slots.values() if one.leases]
    return {(one.registration.id, str(one.spec)): one.leases for one in held}
