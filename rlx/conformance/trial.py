"""One program run on one backend, and judged."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rlx.backends.protocol import Backend, CompileOptions, TooLarge
from rlx.conformance.compare import Tolerance, difference
from rlx.program import Program

Array = Any
PASSED, WRONG, RAISED, CRASH, HANG = "passed", "wrong", "raised", "crash", "hang"
DECLINED = "declined"


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A program with inputs, and the outputs that it must give."""

    name: str
    program: Program
    inputs: Sequence[Array]
    expected: Sequence[Array]
    tolerance: Tolerance


@dataclass(frozen=True, slots=True)
class Outcome:
    """`passed`, `wrong` (another answer), `raised` (it could not run), `crash` or `hang`.

    Or `declined`: this device is too small for it, which the backend said before anything ran.
    """

    status: str
    detail: str = ""

    @property
    def passed(self) -> bool:
        """True when the answer was right."""
        return self.status == PASSED


class Runner(Protocol):
    """Runs trials on one backend: in this process, or in others that may die of them."""

    def begin(self, trials: Sequence[Trial]) -> Callable[[], list[Outcome]]:
        """Start these trials; what is returned waits for their outcomes, in the same order."""
        ...

    def attempt(self, trial: Trial) -> Outcome:
        """Run one trial."""
        ...


@dataclass(frozen=True, slots=True)
class Here:
    """Runs trials on an opened backend in this process: a crash would be this process's."""

    backend: Backend

    def begin(self, trials: Sequence[Trial]) -> Callable[[], list[Outcome]]:
        """Run them at once."""
        outcomes = [self.attempt(trial) for trial in trials]
        return lambda: outcomes

    def attempt(self, trial: Trial) -> Outcome:
        """Run one trial."""
        return attempt(self.backend, trial)


def attempt(backend: Backend, trial: Trial) -> Outcome:
    """Run the trial on the backend itself: no router, no coverage."""
    try:
        outputs = evaluate(backend, trial.program, trial.inputs)
    except TooLarge as error:
        return Outcome(DECLINED, error.message)
    except Exception as error:  # noqa: BLE001 - whatever an engine raises is its outcome
        return Outcome(RAISED, f"{type(error).__name__}: {error}")
    found = difference(trial.expected, outputs, trial.tolerance)
    return Outcome(PASSED) if found is None else Outcome(WRONG, found)


def evaluate(backend: Backend, program: Program, inputs: Sequence[Array]) -> list[Array]:
    """Compile, run once and close; the inputs are guarded against being written to."""
    executable = backend.compile(program, CompileOptions())
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # infinities and NaN are compared, not complained of
            outputs = executable.run([guarded(value) for value in inputs])
            to_host = getattr(executable, "to_host", None)
            return [on_host(value, to_host) for value in outputs] if to_host else list(outputs)
    finally:
        executable.close()


def on_host(value: Any, to_host: Callable[[Any], Any]) -> Any:
    """An output as NumPy arrays, in sequences too; maps and None as they are."""
    if isinstance(value, list):
        return [on_host(item, to_host) for item in value]
    return value if value is None or isinstance(value, dict) else to_host(value)


def guarded(value: Any) -> Any:
    """A read-only view of an array, in sequences too: a backend may not write to its inputs."""
    if isinstance(value, list):
        return [guarded(item) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view
