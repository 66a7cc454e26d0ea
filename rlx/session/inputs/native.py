"""Arrays of the backend's own, as its executable takes and returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MEMBERS = ("adopt", "describe", "to_host", "to_device")
"""What an executable offers, all of it or nothing: `rlx.backends.protocol.NativeArrays`."""
_HOST = frozenset({1, 3, 11, 13})
"""DLPack's kinds of memory that the host can read: the CPU's, pinned for CUDA or ROCm, managed."""
_DEVICES = {2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm", 14: "oneapi"}
"""What messages call DLPack's other kinds of devices; those without a name are called by number."""


@dataclass(frozen=True, slots=True)
class Native:
    """The executable's members for arrays of its own; None where it has none."""

    place: str = "the host"
    """The device that the program runs on."""
    adopt: Callable[[object], Any] | None = None
    describe: Callable[[Any], tuple[str, tuple[int, ...]]] | None = None
    to_host: Callable[[Any], Any] | None = None
    to_device: Callable[[Any], Any] | None = None

    @classmethod
    def of(cls, executable: object, place: str) -> Native:
        """What the executable offers."""
        found = [getattr(executable, name, None) for name in MEMBERS]
        if None in found:
            return cls(place)
        return cls(place, *found)


def elsewhere(value: object) -> str | None:
    """The device that an array is on, as its library says; None: the host can read it there."""
    try:
        kind, index = value.__dlpack_device__()  # type: ignore[attr-defined]
        kind, index = int(kind), int(index)
    except Exception:  # noqa: BLE001 - it does not say; reading it will
        return None
    return None if kind in _HOST else f"{_DEVICES.get(kind, f'DLPack device {kind}')}:{index}"
