"""What kernels notice while a run is computed, and nobody looks at before it is: wrong indices."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rlx.errors import ExecutionError


class Flags(threading.local):
    """The calling thread's flags: arrays that are true where an index is wrong."""

    def __init__(self) -> None:
        self._raised: list[Any] = []

    def raise_flag(self, flag: Any) -> None:
        """Note a flag for the run that this thread is in."""
        self._raised.append(flag)

    def taken(self) -> list[Any]:
        """The flags since the last call in this thread."""
        raised, self._raised = self._raised, []
        return raised

    @contextmanager
    def apart(self) -> Iterator[None]:
        """A run of its own: what it leaves is forgotten, what was raised before it stays."""
        outer = self.taken()
        try:
            yield
        finally:
            self._raised = outer


def check(wrong: Iterable[object]) -> None:
    """Refuse what was computed where one of the flags, as values, is true.

    Raises:
        ExecutionError: an index was outside its array.
    """
    if any(wrong):
        raise ExecutionError(
            "an index is outside the array that it picks from",
            fix="look at the inputs that the program picks by.",
        )
