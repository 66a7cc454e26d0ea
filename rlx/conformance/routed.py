"""One trial as a user would run it: by a session that asks for the backend by its id."""

from __future__ import annotations

from rlx.backends.protocol import TooLarge
from rlx.conformance.compare import difference
from rlx.conformance.trial import PASSED, WRONG, Outcome, Trial, guarded
from rlx.errors import NoBackend
from rlx.session import Session

REFUSED = "refused"


def attempt(session: Session, trial: Trial) -> Outcome:
    """`passed`, `refused` (with the code of the reason) before anything ran, or `wrong`."""
    try:
        executable = session.compile(trial.program)
    except NoBackend as refusal:
        return Outcome(REFUSED, refusal_code(refusal))
    except TooLarge as refusal:
        return Outcome(REFUSED, refusal.code)
    except Exception as error:  # noqa: BLE001 - a claim that can't be kept is wrong, whatever is raised
        return Outcome(WRONG, f"{type(error).__name__}: {error}")
    try:
        outputs = list(executable(*(guarded(value) for value in trial.inputs)))
    except Exception as error:  # noqa: BLE001 - as above
        return Outcome(WRONG, f"{type(error).__name__}: {error}")
    finally:
        executable.close()
    found = difference(trial.expected, outputs, trial.tolerance)
    return Outcome(PASSED) if found is None else Outcome(WRONG, found)


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
