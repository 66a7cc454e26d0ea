"""What a graphics API raises, as rlx's errors: no memory, a lost device, a refused shader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rlx.backends.array.library import DeviceFailed
from rlx.errors import RlxError, printable

LOST = ("device is lost", "device lost", "context lost", "contextlost")
NO_MEMORY = ("not enough memory", "out of memory", "outofmemory", "out_of_memory")


@contextmanager
def told(detail: str, doing: str, *kinds: type[Exception]) -> Iterator[None]:
    """Exceptions of these kinds within are told as what they mean, and for what.

    Raises:
        DeviceFailed: one was raised.
    """
    try:
        yield
    except RlxError:
        raise
    except kinds as error:
        raise failure(detail, doing, error) from error


def failure(detail: str, doing: str, error: Exception) -> DeviceFailed:
    """What an exception means that `detail`, an adapter, raised while it was `doing` something."""
    text = " ".join(printable(line.strip()) for line in str(error).splitlines() if line.strip())
    low = text.lower()
    if any(mark in low for mark in LOST):
        return DeviceFailed(
            f"{detail} was lost {doing}",
            fix="close what holds it and open a new session; if it is lost again, update the GPU's "
            "driver or choose another device.",
        )
    if isinstance(error, MemoryError) or any(mark in low for mark in NO_MEMORY):
        return DeviceFailed(
            f"{detail} has no memory left {doing}",
            fix="close other programs that use it, make the inputs smaller, or choose another "
            "device.",
        )
    return DeviceFailed(
        f"{detail} failed {doing}: {text[:300]}",
        fix="update the GPU's driver, or choose another device; with a current driver report this "
        "as a bug of rlx.",
    )
