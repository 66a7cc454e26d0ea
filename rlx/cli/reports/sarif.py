"""The report as SARIF 2.1.0, for code scanning and for tools that gather reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import rlx
from rlx.freeze.codes import CODES
from rlx.manifest.faults import MEANINGS

if TYPE_CHECKING:
    from rlx.cli.reports.report import Report
    from rlx.cli.reports.sources import Sources
    from rlx.errors import Fault
    from rlx.origin import Origin

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"
HELP = "urn:rlx:code:v1:"
"""Names a code's help; `rlx explain-code CODE` prints it."""
_KNOWN = {**MEANINGS, **CODES}
_WARNINGS = ("equal-ranks",)


def log(report: Report, sources: Sources) -> dict[str, Any]:
    """The whole log file: one run."""
    codes = sorted({*_KNOWN, *(fault.code for fault in report.faults)})
    numbers = {code: number for number, code in enumerate(codes)}
    driver = {
        "name": "rlx",
        "version": rlx.__version__,
        "semanticVersion": rlx.__version__,
        "rules": [_rule(code) for code in codes],
    }
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "invocations": [
                    {"executionSuccessful": True, "exitCode": 1 if report.errors else 0}
                ],
                "artifacts": [
                    {"location": _artifact(path, sources), "roles": ["analysisTarget"]}
                    for path in report.checked
                ],
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(fault, report.level(fault), numbers[fault.code], sources)
                    for fault in report.faults
                ],
            }
        ],
    }


def _rule(code: str) -> dict[str, Any]:
    known = _KNOWN[code]
    level = "warning" if code in _WARNINGS else "error"
    meaning = known.meaning[:1].upper() + known.meaning[1:].removesuffix(".")
    return {
        "id": code,
        "shortDescription": {"text": f"{meaning}."},
        "help": {"text": f"To do: {known.fix} See `rlx explain-code {code}`."},
        "helpUri": f"{HELP}{code}",
        "defaultConfiguration": {"level": level},
    }


def _result(fault: Fault, level: str, number: int, sources: Sources) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": fault.code,
        "ruleIndex": number,
        "level": level,
        "message": {"text": f"{fault.message}. Fix: {fault.fix}"},
        "locations": [_location(fault.origin, sources)],
    }
    if fault.related:
        result["relatedLocations"] = [
            {"id": id_, **_location(place, sources), "message": {"text": f"at {place}"}}
            for id_, place in enumerate(fault.related, 1)
        ]
    return result


def _location(place: Origin, sources: Sources) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(place.path, sources)}
    if place.line:
        physical["region"] = {"startLine": place.line, "startColumn": place.column}
        if sources.line(place) is not None:
            physical["region"]["endColumn"] = sources.end(place)
    return {"physicalLocation": physical}


def _artifact(shown: str, sources: Sources) -> dict[str, Any]:
    """Where a file is: from the top of the repository, or else from the top of the file system."""
    path = sources.from_root(shown)
    if path is not None:
        return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": ROOT}
    try:
        return {"uri": sources.file(shown).absolute().as_uri()}
    except (OSError, ValueError):  # the working folder was removed
        return {"uri": quote(shown)}
