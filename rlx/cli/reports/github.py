"""The report as workflow commands, which GitHub shows beside the lines of a pull request.

The form: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.cli.reports.report import Report
    from rlx.cli.reports.sources import Sources
    from rlx.errors import Fault

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def lines(report: Report, sources: Sources) -> Iterator[str]:
    """A command for each fault; the last line counts, for the log."""
    for fault in report.faults:
        yield _command(fault, report.level(fault), sources)
    yield report.summary


def _command(fault: Fault, level: str, sources: Sources) -> str:
    place = fault.origin
    path = sources.from_root(place.path)
    message = f"{fault.message}. Fix: {fault.fix}"
    properties = {}
    if path is None:  # outside the repository: there is no line to show it beside
        message = f"{place}: {message}"
    else:
        properties["file"] = path
        if place.line:
            properties |= {"line": str(place.line), "col": str(place.column)}
            if sources.line(place) is not None:
                properties |= {
                    "endLine": str(place.line),
                    "endColumn": str(sources.end(place) - 1),
                }
    properties["title"] = fault.code
    listed = ",".join(f"{key}={one.translate(_PROPERTY)}" for key, one in properties.items())
    return f"::{level} {listed}::{message.translate(_DATA)}"
