"""A route for a reader: what was chosen, then the reasons against the others, like with like."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from rlx.errors import printable
from rlx.router.text import chosen, needs_all, refused
from rlx.router.verdicts import CODES, EMPTY_ADVICE, NOT_HERE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rlx.router import Route
    from rlx.router.verdicts import Candidate, Reason
    from rlx.settings import Request

ORDER = (
    *("open-failed", "capability", "coverage", "unavailable", "software-device"),
    *("disabled", "emission-only", "oracle", "not-requested", "not-reached"),
)
"""What somebody can do something about comes first."""
BY_DEVICE = ("unavailable", "software-device")
"""Here what to do is a matter of the device, and is said once for each."""
BARE = ("emission-only", "oracle", "not-requested", "not-reached")
"""Here the code says it all."""
NAMED = 4
"""Backends on other devices than the one that was asked for, that are named."""
_Held = list[tuple["Candidate", "Reason | None"]]


def summary(route: Route, width: int, more: str = "-v") -> str:
    """The decision in lines of at most `width` characters, where they can be wrapped.

    Every backend that was not chosen is named under its reasons, those that have one in common
    together, with one thing to do. `more` is what shows each backend's own reason and place.
    """
    tail: list[str] = []
    if route.backend is not None:
        lines = _chosen(route, width)
    else:
        head, *tail = refused(route)
        lines = _wrapped(head, width, "", "  ")
    left = _left(route)
    if not left:
        return "\n".join([*lines, *tail])
    said = "was not chosen" if len(left) == 1 else "were not chosen"
    told = f"{len(left)} {said}; {more} shows {'its' if len(left) == 1 else 'each with its'} place:"
    lines += _wrapped(told, width, "", "  ")
    groups = _grouped(left)
    for code in sorted(groups, key=ORDER.index):
        lines += _group(route, code, groups[code], width)
    for line in tail:
        lines += _wrapped(line, width, "", "  ")
    return "\n".join(lines)


def brief(route: Route, width: int, more: str = "-v") -> str:
    """The choice, and what was tried before it; `more` is what says the rest."""
    lines, left = _chosen(route, width), _left(route)
    tried = _grouped(left).get("open-failed")
    if tried:
        lines += _group(route, "open-failed", tried, width)
    if left:
        said = "other was" if len(left) == 1 else "others were"
        lines += _wrapped(f"{len(left)} {said} not chosen: {more} says why", width, "  ", "    ")
    return "\n".join(lines)


def _chosen(route: Route, width: int) -> list[str]:
    """What was chosen, why, and what is lowered and cut."""
    head, why, done = chosen(route)
    lines = _wrapped(head, width, "", "  ")
    for line in (*why, *done):
        lines += _wrapped(line.strip(), width, "  ", "    ")
    return lines


def _left(route: Route) -> list[Candidate]:
    return [one for one in route.candidates if one.verdict != "selected"]


def folded(text: str, width: int) -> str:
    """The lines of a text, each at most `width` wide where it can be wrapped."""
    lines: list[str] = []
    for line in text.splitlines():
        if len(line) > width:
            indent = " " * (len(line) - len(line.lstrip()))
            bare = re.sub(" {2,}", "  ", line.strip())
            lines += _wrapped(bare, width, indent, indent + "    ")
        else:
            lines.append(line)
    return "\n".join(lines)


def _grouped(candidates: list[Candidate]) -> dict[str, _Held]:
    """By code, the candidates that it speaks against, in decision order."""
    made: dict[str, _Held] = {}
    for one in candidates:
        if not one.reasons:
            made.setdefault("not-reached", []).append((one, None))
        for reason in one.reasons[: None if needs_all(one) else 1]:
            made.setdefault(reason.code, []).append((one, reason))
    return made


def _group(route: Route, code: str, held: _Held, width: int) -> Iterator[str]:
    if code in BARE:
        by = f" ({_wanted(route.request)})" if code == "not-requested" else ""
        names = _ids(held) if code != "not-requested" else _few(held)
        yield from _wrapped(f"{code}{by}: {names}", width, "  ", "    ")
    elif code in BY_DEVICE:
        yield from _wrapped(f"{code}: {CODES[code].meaning}", width, "  ", "    ")
        parts = _parts(held, lambda one, _: one.device.partition(":")[0])
        column = max(len(name) for name in parts)
        for name, mine in parts.items():
            if _asked(route, mine):
                shown = _parts(mine, lambda _, reason: f"{reason.detail}{_fix(reason)}")
            else:
                shown = {_advice(mine): mine}
            label = name.ljust(column)
            for text, those in shown.items():
                yield from _item(f"{label}  {text}", _ids(those), width, 4, column + 6)
                label = " " * column
    else:
        for text, mine in _parts(held, lambda _, reason: f"{reason.detail}").items():
            yield from _item(f"{code}: {text}", _ids(mine), width, 2, 4)
            for fix in dict.fromkeys(reason.fix for _, reason in mine if reason and reason.fix):
                yield from _wrapped(f"Fix: {printable(fix)}", width, "    ", "      ")


def _item(text: str, ids: str, width: int, indent: int, hanging: int) -> Iterator[str]:
    """What is said, then whom it is said of: on the same line where there is room."""
    lines = _wrapped(text, width, " " * indent, " " * hanging)
    if len(lines[-1]) + len(ids) + 3 <= width:
        lines[-1] += f" ({ids})"
        yield from lines
    else:
        yield from lines
        yield from _wrapped(f"({ids})", width, " " * hanging, " " * (hanging + 1))


def _parts(held: _Held, key: Callable[[Candidate, Reason], str]) -> dict[str, _Held]:
    made: dict[str, _Held] = {}
    for one, reason in held:
        assert reason is not None
        made.setdefault(key(one, reason), []).append((one, reason))
    return made


def _asked(route: Route, held: _Held) -> bool:
    """True where the device, or a backend of it, was asked for: every reason matters then."""
    request = route.request
    devices = {spec.name for spec in request.devices}
    return any(
        one.backend == request.backend or one.device.partition(":")[0] in devices for one, _ in held
    )


def _advice(held: _Held) -> str:
    """What to do about a device, by the first backend that has something to say about it."""
    reasons = [reason for _, reason in held if reason is not None]
    for reason in reasons:
        if reason.fix and reason.fix not in EMPTY_ADVICE:
            elsewhere = reason.fix.removeprefix(NOT_HERE)  # nobody asked for this one
            return printable(elsewhere if elsewhere != reason.fix else f"Fix: {reason.fix}")
    return reasons[0].detail


def _fix(reason: Reason) -> str:
    return f". Fix: {printable(reason.fix)}" if reason.fix else ""


def _wanted(request: Request) -> str:
    asked = request.backend or " or ".join(map(str, request.devices))
    return printable(f"{asked} was asked for by {request.source or 'the request'}")


def _ids(held: _Held) -> str:
    return ", ".join(dict.fromkeys(one.backend for one, _ in held))


def _few(held: _Held) -> str:
    """The first of them, where it matters little who they are."""
    more = len(held) - NAMED
    return _ids(held) if more <= 1 else f"{_ids(held[:NAMED])} and {more} more"


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    return wrap(
        text,
        max(width, 40),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
