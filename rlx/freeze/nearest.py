"""The fix for an unknown name: what was probably meant, or what may be written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LISTED = 20


def later(name: str, known: Iterable[str], otherwise: str) -> Callable[[], str]:
    """`suggest`, for a fault that may not be shown: names are compared when it is."""
    return partial(suggest, name, known, otherwise)


def suggest(name: str, known: Iterable[str], otherwise: str) -> str:
    """The nearest known name, else all of them where they are few, else the advice given."""
    names = sorted(known)
    near = nearest(name.strip(), names)
    if near is not None:
        return f"did you mean {near!r}?"
    if names and len(names) <= LISTED:
        return f"write one of: {', '.join(names)}."
    return otherwise
