"""Slots: one per opened backend and device of this process; how they begin, end and are counted."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Protocol

from rlx.device import DeviceSpec
from rlx.errors import ContractError, ExecutionError, OpenFailed
from rlx.session.opening import cause_text, open_backend

if TYPE_CHECKING:
    from rlx.backends.protocol import Backend
    from rlx.registration import Registration

_log = logging.getLogger("rlx")
Key = tuple[str, DeviceSpec, str | None, str]
"""Backend id, device spec with index, factory, options and what it does of barriers."""


class Slot:
    """One backend on one device spec, from the first question for it until its last lease ends.

    `ready` is set whenever a waiting thread should look again: opened, failed or closed.
    """

    def __init__(self, cache: Cache, key: Key, registration: Registration, spec: DeviceSpec):
        self.cache = cache
        self.key = key
        self.registration = registration
        self.spec = spec
        self.backend: Backend | None = None
        self.leases = 0
        self.ready = threading.Event()
        self.owner = threading.get_ident()
        """The thread that opens it, or closes it."""
        self.error: OpenFailed | ContractError | None = None

    def __str__(self) -> str:
        return f"{self.registration.id} on {self.spec}"


class Cache:
    """All slots of one process; a forked child begins with an empty cache."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        """Held for the moment of a look or a change, never while a backend opens or closes."""
        self.slots: dict[Key, Slot] = {}
        self.stale = False
        """True in a child, for its parent's cache: nothing in it is used or closed there."""
        self.first_causes: dict[Key, str] = {}
        """Why an opening failed first, until it succeeds."""
        self._dropped: deque[Slot] = deque()
        self._waits: dict[int, Slot] = {}
        """By thread, the slot that it waits for."""

    def wait(self, slot: Slot) -> None:
        """Wait until another thread has opened the slot, has failed to, or has closed it.

        Raises:
            ContractError: that thread waits, by way of others perhaps, for this very one.
        """
        me = threading.get_ident()
        with self.guard:
            self._waits[me] = slot
            circle = self._circle(slot, me)
            if circle:
                del self._waits[me]
        if circle:
            asks = (
                "asks for itself while it is"
                if len(circle) == 1
                else f"and {circle[1]} ask for each other while they are"
            )
            raise ContractError(f"{slot} {asks} opened or closed")
        try:
            slot.ready.wait()
        finally:
            with self.guard:
                self._waits.pop(me, None)

    def _circle(self, slot: Slot, me: int) -> list[Slot]:
        """The slots that wait for each other, from `slot` to one that this thread is opening."""
        found: list[Slot] = []
        ahead: Slot | None = slot
        while ahead is not None and ahead not in found and not ahead.ready.is_set():
            found.append(ahead)
            if ahead.owner == me:
                return found
            ahead = self._waits.get(ahead.owner)
        return []

    def open(self, slot: Slot) -> None:
        """Run the factory, for everybody who waits for this slot; it has one lease then."""
        try:
            backend = open_backend(slot.registration, slot.spec)
        except BaseException as error:
            if isinstance(error, OpenFailed | ContractError):
                slot.error = self._with_first_cause(slot.key, error)
            self._remove(slot)
            if slot.error is not None and slot.error is not error:
                raise slot.error from error.__cause__
            raise
        with self.guard:
            slot.backend = backend
            slot.leases = 1
            self.first_causes.pop(slot.key, None)
        slot.ready.set()
        # Exit handlers run last in, first out: ours must run before those of any engine.
        atexit.unregister(_close_all)
        atexit.register(_close_all)

    def end(self, slot: Slot) -> None:
        """End one lease; the last one closes the backend.

        Raises:
            ExecutionError: closing it failed; it is no longer used all the same.
        """
        with self.guard:
            last = self._count_down(slot)
        if last:
            self._close(slot)

    def drop(self, slot: Slot) -> None:
        """End a lease that was collected; that may happen anywhere, so this waits for nothing."""
        if self.stale:
            return
        if not self.guard.acquire(blocking=False):
            self._dropped.append(slot)  # perhaps this very thread holds it
            return
        try:
            last = self._count_down(slot)
        finally:
            self.guard.release()
        if last:
            self.close_quietly(slot)

    def drain(self) -> None:
        """End the leases that could not be ended when they were collected."""
        while self._dropped:
            try:
                slot = self._dropped.popleft()
            except IndexError:  # another thread took the last one
                return
            with self.guard:
                last = self._count_down(slot)
            if last:
                self.close_quietly(slot)

    def close_quietly(self, slot: Slot) -> None:
        """Close a backend where nobody is left to raise to."""
        try:
            self._close(slot)
        except ExecutionError as error:
            _log.error("%s", error)

    def _count_down(self, slot: Slot) -> bool:
        """Count one lease less, under the guard; True when the caller is to close the backend."""
        slot.leases -= 1
        if slot.leases:
            return False
        slot.ready = threading.Event()  # who asks now waits for the closing, then opens anew
        slot.owner = threading.get_ident()
        return True

    def _close(self, slot: Slot) -> None:
        backend, slot.backend = slot.backend, None
        try:
            if backend is not None:
                backend.close()
        except Exception as error:
            raise ExecutionError(
                f"closing {slot} failed: {cause_text(error)}", fix="see the cause above."
            ) from error
        finally:
            self._remove(slot)

    def _remove(self, slot: Slot) -> None:
        with self.guard:
            self.slots.pop(slot.key, None)
        slot.ready.set()

    def _with_first_cause(
        self, key: Key, error: OpenFailed | ContractError
    ) -> OpenFailed | ContractError:
        """The error, telling the first cause where a retry failed in another way."""
        first = self.first_causes.setdefault(key, error.message)
        if first == error.message:
            return error
        return type(error)(f"{error.message} (it first failed so: {first})", fix=error.fix)


class User(Protocol):
    """Something that works through a lease, and must end before the backend closes."""

    def close(self) -> None:
        """End it; calling it again does nothing."""

    def forked(self) -> None:
        """Called in a forked child, where it must not be used."""


_cache = Cache()
_of_parents: list[Cache] = []
"""In a child: kept, since an engine freed there may wait for threads that did not come along."""
_users: weakref.WeakSet[User] = weakref.WeakSet()


def current() -> Cache:
    """The cache of this process."""
    return _cache


def add_user(user: User) -> None:
    """Have `user` closed before the backends, should it still live when the interpreter exits."""
    _users.add(user)


def _leave_parent() -> None:
    global _cache
    _cache.stale = True
    _of_parents.append(_cache)
    _cache = Cache()
    for user in tuple(_users):
        user.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_parent)


def _close_all() -> None:
    """Close everything that is still open when the interpreter exits: users, then backends."""
    for user in tuple(_users):
        try:
            user.close()
        except ExecutionError as error:
            _log.error("%s", error)
    _cache.drain()
    for slot in tuple(_cache.slots.values()):
        _cache.close_quietly(slot)
