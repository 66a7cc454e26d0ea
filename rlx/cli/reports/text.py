"""The report as people read it: each fault on a line, and below it what stands at its places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.cli.reports.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rlx.cli.reports.report import Report
    from rlx.cli.reports.sources import Sources
    from rlx.origin import Origin

MANY = 8
"""So many other places of one fault are shown; its message names them all."""


def lines(report: Report, sources: Sources, encoding: str) -> Iterator[str]:
    """Every line of the report; the last one counts."""
    for fault in report.faults:
        yield str(fault) if report.level(fault) == "error" else f"{fault} (warning)"
        places = (fault.origin, *fault.related[:MANY])
        gutter = max(len(str(place.line)) for place in places)
        yield from _shown(fault.origin, sources, gutter, encoding)
        yield from _related(places[1:], sources, gutter, encoding)
    yield report.summary


def _related(
    places: Sequence[Origin], sources: Sources, gutter: int, encoding: str
) -> Iterator[str]:
    for place in places:
        found = list(_shown(place, sources, gutter, encoding))
        if found:
            yield f"  {place}"
            yield from found


def _shown(place: Origin, sources: Sources, gutter: int, encoding: str) -> Iterator[str]:
    line = sources.line(place)
    if line is None:
        return
    shown, carets = excerpt(line, place.column, sources.end(place), encoding)
    yield f"  {place.line:>{gutter}} | {shown}".rstrip()
    yield f"  {'':>{gutter}} | {carets}"
