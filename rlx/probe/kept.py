"""The answers of `call` probes, kept on disk while nothing that they depend on has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.probe import circumstances, store
from rlx.probe.process import Answer, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.registration import Probe

KIND = "call"
WORKS_SECONDS = 7 * 86400.0
"""How long it is believed that an engine works: opening it says otherwise, if it is otherwise."""
REFUSED_SECONDS = 600.0
"""How long it is believed that one does not: nobody would notice that it does."""


def answer(one: Probe, index: int, check: Callable[[Probe, int], Answer]) -> Answer:
    """What a probe answers: as it is kept, else as `check` finds, which is then kept.

    Only a `call` of a trusted file is kept: the rest is cheap. A reason that may pass by itself
    never is.
    """
    if one.kind != KIND or not one.trusted:
        return check(one, index)
    key = store.digest(one.values, one.timeout, index, circumstances.digest(*one.values))
    found = store.read(KIND, key, WORKS_SECONDS)
    known = None if found is None else _answer(found)
    if known is not None and known.reason is not None:
        found = store.read(KIND, key, REFUSED_SECONDS)
    if known is not None and found is not None:
        return known
    made = check(one, index)
    if not made.transient:
        software, detail = made.software, made.detail
        store.write(KIND, key, {"reason": made.reason, "software": software, "detail": detail})
    return made


def forget() -> None:
    """Take what is kept away."""
    circumstances.forget()
    store.forget()


def _answer(found: dict[str, Any]) -> Answer | None:
    """The answer of a file; None: it is not one that was written here."""
    reason, software, detail = (found.get(key) for key in ("reason", "software", "detail"))
    if not (reason is None or (isinstance(reason, str) and reason.strip())):
        return None
    if not isinstance(software, bool) or not isinstance(detail, str):
        return None
    return Answer(None if reason is None else shorten(reason), software, shorten(detail))
