"""ONNX's suite through the router: every case passes, or is refused before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rlx.conformance.cases import UNJUDGED, Case, allowed
from rlx.conformance.compare import difference
from rlx.conformance.measure import Progress
from rlx.conformance.trial import guarded
from rlx.errors import NoBackend, ProgramError, RlxError
from rlx.program import load
from rlx.session import Session


@dataclass(slots=True)
class Tally:
    """What became of each case; `wrong` must stay empty."""

    passed: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """By case, the code of the reason: `coverage`, `capability` …"""
    unreadable: dict[str, str] = field(default_factory=dict)
    """By case, why no program could be made of it."""
    wrong: dict[str, str] = field(default_factory=dict)
    """By case, what was promised and not held."""

    @property
    def total(self) -> int:
        """How many cases ran."""
        return len(self.passed) + len(self.refused) + len(self.unreadable) + len(self.wrong)

    def __str__(self) -> str:
        codes = Counter(self.refused.values())
        detail = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
        return (
            f"{self.total} cases: {len(self.passed)} passed, "
            f"{len(self.refused) + len(self.unreadable)} refused ({detail or 'none'}, "
            f"program {len(self.unreadable)}), {len(self.wrong)} wrong"
        )


def run_suite(
    backend: str,
    cases: Sequence[Case],
    progress: Progress,
) -> Tally:
    """Run each case on the backend as a user would: by a session that asks for it by its id."""
    tally = Tally()
    with Session(backend=backend) as session:
        for done, case in enumerate(cases):
            progress(backend, done, len(cases))
            _run(session, case, tally)
    return tally


def _run(session: Session, case: Case, tally: Tally) -> None:
    model, inputs, expected = case.read()
    try:
        program = load(model)
    except ProgramError as error:
        tally.unreadable[case.name] = str(error)
        return
    try:
        executable = session.compile(program)
    except NoBackend as refusal:
        tally.refused[case.name] = refusal_code(refusal)
        return
    except RlxError as error:
        tally.wrong[case.name] = f"{type(error).__name__}: {error}"
        return
    try:
        outputs = list(executable(*(guarded(value) for value in inputs)))
    except RlxError as error:
        tally.wrong[case.name] = f"{type(error).__name__}: {error}"
        return
    finally:
        executable.close()
    found = UNJUDGED.get(case.name) or difference(expected, outputs, allowed(case, model))
    if found is None:
        tally.passed.append(case.name)
    else:
        tally.wrong[case.name] = found


def refusal_code(refusal: NoBackend) -> str:
    """The code of the first reason against the backend that was asked for."""
    route = refusal.route
    codes = [
        reason.code
        for candidate in getattr(route, "candidates", ())
        for reason in candidate.reasons[:1]
        if reason.code != "not-requested"
    ]
    return codes[0] if codes else "unknown"
