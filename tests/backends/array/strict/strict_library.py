"""array-api-strict as a backend: all that a new array library takes, beside its YAML entry."""

from __future__ import annotations

import array_api_strict as xp
import numpy as np

from rlx.backends.array.engine import ArrayBackend
from rlx.backends.array.library import Library
from rlx.errors import SettingError, Unavailable


def open_cpu(spec, options):
    """Open the library, which computes on the CPU."""
    if spec.index not in (None, 0):
        raise Unavailable(f"array-api-strict has only cpu:0, got {spec}", fix="ask for cpu.")
    if options:
        raise SettingError(f"array-api-strict has no options, got {options}", fix="remove them.")
    return ArrayBackend(
        Library(
            name="array-api-strict",
            xp=xp,
            version=xp.__version__,
            device="cpu",
            to_native=xp.asarray,
            to_host=np.asarray,
            copy=lambda x: xp.asarray(x, copy=True),
        )
    )
