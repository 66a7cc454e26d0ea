"""Settings: RLX_* environment, scopes and arguments become one `Request`. Only this reads RLX_*."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.origin import Origin

if TYPE_CHECKING:
    from rlx.device import DeviceSpec


@dataclass(frozen=True, slots=True)
class Request:
    """What the caller asks for, after the strongest source has won.

    `devices` empty means any device; `source` says where devices or backend came from, None
    where neither was asked for. `disabled` are ids, device names or aliases that are masked.
    """

    devices: tuple[DeviceSpec, ...] = ()
    backend: str | None = None
    source: Origin | None = None
    disabled: tuple[str, ...] = ()
    precedence: tuple[str, ...] = ()
    """Ids that come before rank, in this order."""
    require: tuple[str, ...] = ()
    """Capabilities that the caller asks for."""
    kernel_dispatch: str = "prefer-native"
    precision: str | None = None
    precision_policy: str = "error"
