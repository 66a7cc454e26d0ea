"""The numpy backend: the embedded default, on any machine with a CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Any

import array_api_compat.numpy as xp
import numpy as np

from rlx.backends.array.engine import ArrayBackend, Library
from rlx.errors import SettingError, Unavailable

if TYPE_CHECKING:
    from rlx.device import DeviceSpec


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open NumPy; there is one CPU, and there are no options.

    Raises:
        Unavailable: an index other than 0 was asked for.
        SettingError: an option was given.
    """
    if spec.index not in (None, 0):
        raise Unavailable(f"numpy has only cpu:0, got {spec}", fix="ask for cpu.")
    if options:
        raise SettingError(
            f"numpy has no options, got {', '.join(sorted(options))}", fix="remove them."
        )
    return ArrayBackend(
        Library(
            name="numpy",
            xp=xp,
            version=np.__version__,
            device="cpu",
            to_native=np.asarray,
            copy=partial(np.array, order="C"),
            guard=_quietly(),
        )
    )


def _quietly() -> Callable[..., Any]:
    """Calls a function with NumPy's floating-point warnings off.

    NumPy keeps them in a context variable, so entering a copy of a context where they are off
    does it, for this call alone, in a tenth of the time of `np.errstate`.
    """
    quiet = Context()
    quiet.run(np.seterr, all="ignore")

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        return quiet.copy().run(function, *arguments)

    return call
