"""Libraries whose threads or devices do not survive a fork: used before it, they are refused after.

A fork copies the memory of a process, and none of its threads but one: locks that the others held
are never released, and work handed to them is never done.
"""

from __future__ import annotations

import os

from rlx.errors import Unavailable

_used: dict[str, int] = {}
"""By library, the process that used it first; a forked child finds its parent's here."""


def used_before_fork(library: str) -> bool:
    """Whether a process that this one was forked from used the library; notes that it is used."""
    return _used.setdefault(library, os.getpid()) != os.getpid()


def refuse_forked(library: str) -> None:
    """Refuse a library that a process used which this one was forked from.

    Raises:
        Unavailable: it did.
    """
    if used_before_fork(library):
        raise Unavailable(
            f"{library} was used before this process was forked, and cannot be used in it",
            fix="start it with multiprocessing.get_context('spawn'), or fork before the library is "
            "used.",
        )
