"""What was measured, kept on disk until all of it is written: a fault in between loses nothing.

A file for each backend holds what its trials said, and the claims that they support; no programs.
As with trials, what is read may name only the few kinds of things that it is made of.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rlx.conformance.claims import Claims
from rlx.conformance.findings import Findings, Record
from rlx.conformance.kept import reading
from rlx.manifest import writing
from rlx.program import Signature

KINDS = {
    ("rlx.conformance.claims", "Claims"),
    ("rlx.conformance.findings", "Record"),
    ("rlx.conformance.measured", "Measured"),
    ("rlx.conformance.synthesis", "Claim"),
    ("rlx.conformance.trial", "Outcome"),
    ("rlx.program.types", "Signature"),
    ("rlx.program.types", "ValueType"),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one backend showed: all that its coverage and its evidence are written from."""

    version: str
    """The engine's."""
    records: tuple[Record, ...]
    apart: Mapping[Signature, str]
    claims: Claims
    flukes: tuple[str, ...]

    @property
    def findings(self) -> Findings:
        """The findings, without the trials that they came from."""
        return Findings(records=list(self.records), apart=dict(self.apart))


def path_of(folder: Path, backend: str) -> Path:
    """Where that of a backend is kept."""
    return folder / f"{backend}.measured"


def keep(folder: Path, backend: str, one: Measured) -> None:
    """Keep what was measured of a backend.

    Raises:
        OSError: the folder can't be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writing.replace(path_of(folder, backend), pickle.dumps(one, pickle.HIGHEST_PROTOCOL))


def kept(folder: Path, backend: str) -> Measured | None:
    """What was measured of a backend, and not written; None: nothing, or the file can't be read."""
    found = reading(path_of(folder, backend), KINDS)
    return found if isinstance(found, Measured) else None


@contextmanager
def until_written(
    folder: Path, backends: Sequence[str], say: Callable[[str], None], *, resume: bool
) -> Iterator[None]:
    """Forget what is kept of the backends when the block has ended; where it fails, say where.

    Without `resume` the block measures anew: what an earlier one left is forgotten first.
    """
    paths = [path_of(folder, name) for name in backends]
    for path in () if resume else paths:
        path.unlink(missing_ok=True)
    try:
        yield
    except BaseException:
        held = [str(path) for path in paths if path.is_file()]
        if held:
            named = " ".join(f"--backend {name}" for name in backends)
            say(
                f"what was measured is kept in {', '.join(held)}. "
                f"Fix: mend what is wrong, then run `rlx conform {named} --write --resume`."
            )
        raise
    for path in paths:
        path.unlink(missing_ok=True)
