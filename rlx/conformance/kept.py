"""Trials kept on disk: making them, and asking the oracle, takes longer than running most engines.

A file holds the trials of one operation. Its name has a digest of everything that they follow
from: the operation's cases, this code, and the versions of ONNX, NumPy and ml_dtypes. What is read
may name only the few kinds of things that a trial is made of, so that a file that somebody else
wrote runs nothing.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Collection, Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx

from rlx import resources
from rlx.conformance.trial import Trial
from rlx.manifest import writing

MAKERS = (
    *("cases", "compare", "corners", "corpus", "degenerate", "extremes", "kept", "tolerances"),
    *("trial", "vary"),
)
SOURCES = (
    *(f"conformance/{name}.py" for name in MAKERS),
    *("conformance/literals", "program", "operations", "backends/reference.py"),
)
"""What trials follow from, below the package."""
KINDS = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("rlx.conformance.compare", "Tolerance"),
    ("rlx.conformance.trial", "Trial"),
    ("rlx.program.program", "_restore"),
}


def kept(
    folder: Path | None, operation: str, names: Iterable[str], make: Callable[[], Iterable[Trial]]
) -> list[Trial]:
    """The trials of one operation: as they are kept in the folder, else made, and kept.

    `names` are those of the cases that they follow from. A folder that can't be used is not.
    """
    if folder is None:
        return list(make())
    mark = sha256("\n".join((_origin(), operation, *names)).encode("utf-8")).hexdigest()[:24]
    path = folder / f"{operation.replace('::', '.')}-{mark}.trials"
    found = _read(path)
    if found is None:
        found = list(make())
        _keep(path, found)
    return found


def _read(path: Path) -> list[Trial] | None:
    """The trials of a file; None: there are none, or it holds something else."""
    found = reading(path, KINDS)
    whole = isinstance(found, list) and all(isinstance(one, Trial) for one in found)
    return found if whole else None


def reading(path: Path, kinds: Collection[tuple[str, str]]) -> Any:
    """What a file holds, made of these kinds of things alone; None: there is no such file."""
    try:
        return _Reader(path.read_bytes(), kinds).load()
    except (OSError, EOFError, ValueError, TypeError, AttributeError, pickle.UnpicklingError):
        return None


def _keep(path: Path, trials: list[Trial]) -> None:
    """Keep the trials; what cannot be pickled, or written, is made again the next time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(f"{path.name.rpartition('-')[0]}-*.trials"):
            old.unlink(missing_ok=True)
        writing.replace(path, pickle.dumps(trials, pickle.HIGHEST_PROTOCOL))
    except (OSError, TypeError, AttributeError, pickle.PicklingError):
        return


class _Reader(pickle.Unpickler):
    """Reads some kinds of things, and nothing else."""

    def __init__(self, data: bytes, kinds: Collection[tuple[str, str]]):
        super().__init__(io.BytesIO(data))
        self._kinds = kinds

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in self._kinds or (module == "ml_dtypes" and hasattr(ml_dtypes, name)):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is none of the kinds that are kept here")


@cache
def _origin() -> str:
    """A digest of the code that trials follow from, and of the libraries' versions."""
    versions = (sys.version, onnx.__version__, np.__version__, ml_dtypes.__version__)
    found = sha256("\n".join(versions).encode("utf-8"))
    for name in SOURCES:
        place = resources.PACKAGE / name
        files = [place] if place.is_file() else sorted(place.rglob("*.py"))
        for file in files:
            found.update(file.read_bytes())
    return found.hexdigest()
