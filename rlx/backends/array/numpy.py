"""The numpy backend: the embedded default, on any machine with a CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlx.backends.array.engine import ArrayBackend
from rlx.backends.array.host import NUMPY
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
    return ArrayBackend(NUMPY)
