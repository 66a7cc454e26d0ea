"""The committed evidence of one backend: what every trial said, small enough to be read in a diff.

Per operation the counts by verdict, and a digest over the name of each trial, whether it is
claimed, and what it did. Of ONNX's cases through the router, those that did not pass, by name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from json import dumps, loads
from pathlib import Path
from typing import Any

import onnx

from rlx import resources
from rlx.conformance.conform import Result, platform_name
from rlx.conformance.suite import Tally
from rlx.conformance.verdicts import PROGRAMS, REFUSED, UNCLAIMED, VERDICTS, digest

FOLDER = "evidence"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the file of one backend says."""

    backend: str
    engine: str
    platform: str
    onnx: str
    operations: Mapping[str, Mapping[str, Any]]
    """Per operation, its `digest` and the number of trials of each verdict that has some."""
    suite: Mapping[str, Any]
    """How many ONNX cases `passed`; the names of those `refused`, by code; and `unjudged`."""
    findings: tuple[str, ...] = ()
    ran: frozenset[str] = frozenset()
    """The names of the ONNX cases that ran; the file does not have them."""

    def total(self, verdict: str) -> int:
        """How many trials have a verdict."""
        return sum(int(one.get(verdict, 0)) for one in self.operations.values())

    @property
    def digest(self) -> str:
        """Over the digests of all operations."""
        return digest(f"{name}\t{one['digest']}\n" for name, one in self.operations.items())


def path_of(backend: str) -> Path:
    """Where the evidence of a backend is kept."""
    return resources.configs() / FOLDER / f"{backend}.json"


def of(result: Result) -> Evidence:
    """The evidence that a run gave."""
    verdicts = result.verdicts
    operations = {
        name: {
            "digest": verdicts.digests.get(name, ""),
            **{verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]},
        }
        for name, counts in sorted(verdicts.counts.items())
    }
    return Evidence(
        result.registration.id,
        result.engine,
        platform_name(),
        onnx.__version__,
        operations,
        _suite(result.suite),
        tuple(sorted(map(str, verdicts.findings))),
        frozenset(result.suite.cases),
    )


def _suite(tally: Tally) -> dict[str, Any]:
    refused: dict[str, list[str]] = defaultdict(list)
    for case, code in sorted(tally.refused.items()):
        refused[code].append(case)
    broken = {verdict: sorted(cases) for verdict, cases in tally.broken.items() if cases}
    return {
        "passed": len(tally.passed),
        "unjudged": sorted(tally.unjudged),
        "refused": dict(sorted(refused.items())),
        **broken,
    }


def text(evidence: Evidence) -> str:
    """The file: one operation, and one list of cases, a line."""
    head = {
        "backend": evidence.backend,
        "engine": evidence.engine,
        "platform": evidence.platform,
        "onnx": evidence.onnx,
        "trials": {verdict: evidence.total(verdict) for verdict in VERDICTS},
        "digest": evidence.digest,
    }
    lines = [f"{dumps(key)}: {dumps(value)}" for key, value in head.items()]
    suite = [f"  {dumps(key)}: {_listed(value)}" for key, value in evidence.suite.items()]
    lines.append('"suite": {\n' + ",\n".join(suite) + "\n}")
    rows = [f"  {dumps(name)}: {dumps(one)}" for name, one in evidence.operations.items()]
    lines.append('"operations": {\n' + ",\n".join(rows) + "\n}")
    lines.append(f'"findings": {_listed(list(evidence.findings))}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(result: Result) -> Path:
    """Write the evidence that a run gave."""
    path = path_of(result.registration.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(of(result)), encoding="utf-8")
    return path


def _listed(value: Any) -> str:
    """A list with an item a line; a mapping of lists likewise."""
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"    {dumps(one)}" for one in value) + "\n  ]"
    if isinstance(value, dict) and value:
        inner = ",\n".join(f"  {dumps(key)}: {_listed(one)}" for key, one in value.items())
        return "{\n" + inner + "\n  }"
    return dumps(value)


def read(backend: str) -> Evidence | None:
    """The committed evidence of a backend; None: there is none that can be read."""
    try:
        data = loads(path_of(backend).read_bytes())
        return Evidence(
            data["backend"],
            data["engine"],
            data["platform"],
            data["onnx"],
            data["operations"],
            data["suite"],
            tuple(data["findings"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def differences(committed: Evidence, now: Evidence, *, whole: bool) -> Iterator[str]:
    """Each way in which a run differs from the evidence; of a part, what is in the part."""
    for name, one in now.operations.items():
        if not whole and name == PROGRAMS:
            continue
        before = committed.operations.get(name)
        if before is None:
            yield f"{name} is not in the evidence"
        elif before["digest"] != one["digest"]:
            yield f"{name}: {_counts(one)}, and the evidence says {_counts(before)}"
    for name in committed.operations if whole else ():
        if name not in now.operations:
            yield f"{name} is in the evidence, and was not tried"
    was, found = _by_case(committed), _by_case(now)
    for case in sorted({*now.ran, *was} if whole else now.ran):
        if was.get(case) != found.get(case):
            said = was.get(case, "passed")
            yield f"{case}: {found.get(case, 'passed')}, and the evidence says {said}"


def settled(result: Result, committed: Evidence) -> Result:
    """A partial run, where the whole one has said more: what was tried alone may not go together.

    A success that is not claimed is refused where the operation did just what the evidence says.
    """
    verdicts = result.verdicts
    same = {
        name
        for name, found in verdicts.digests.items()
        if committed.operations.get(name, {}).get("digest") == found
    }
    counts = {name: Counter(found) for name, found in verdicts.counts.items()}
    for name in same & set(counts):
        counts[name][REFUSED] += counts[name].pop(UNCLAIMED, 0)
    findings = [
        one for one in verdicts.findings if one.verdict != UNCLAIMED or one.operation not in same
    ]
    return replace(result, verdicts=replace(verdicts, counts=counts, findings=findings))


def _counts(one: Mapping[str, Any]) -> str:
    found = ", ".join(f"{one[verdict]} {verdict}" for verdict in VERDICTS if one.get(verdict))
    return f"{found or 'nothing'} ({one['digest']})"


def _by_case(evidence: Evidence) -> dict[str, str]:
    """Of each case that did not pass, what it did."""
    found = {
        case: f"refused ({code})"
        for code, cases in evidence.suite["refused"].items()
        for case in cases
    }
    for what, cases in evidence.suite.items():
        if isinstance(cases, list):
            found.update(dict.fromkeys(cases, what))
    return found
