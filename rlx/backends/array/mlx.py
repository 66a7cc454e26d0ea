"""The mlx backend: Apple's GPU through Metal; elsewhere MLX's CPU device, for trying it out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlx.backends.forks import refuse_forked
from rlx.backends.protocol import Found
from rlx.errors import SettingError, Unavailable

if TYPE_CHECKING:
    from rlx.backends.array.engine import ArrayBackend
    from rlx.device import DeviceSpec


def open_mlx(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open MLX's GPU, or its CPU where it has none.

    Options: `compile`, true or false: whether programs whose steps do not depend on their data are
    compiled as a whole. It is true on a GPU unless told, and false on a CPU, where MLX needs `g++`
    and seconds for each program.

    Raises:
        Unavailable: MLX has no such device, or its GPU was used before a fork.
        SettingError: another option, or a compilation that is not possible here.
    """
    import mlx.core as mx

    from rlx.backends.array.native_mlx_library import open_device, why_not_compiled

    kind = mx.gpu if mx.is_available(mx.gpu) else mx.cpu
    if kind == mx.gpu:
        refuse_forked("mlx")
    count = mx.device_count(kind)
    if (spec.index or 0) >= count:
        raise Unavailable(f"mlx has {count} device(s), got {spec}", fix="ask for mlx.")
    given = dict(options)
    compiles = given.pop("compile", kind == mx.gpu)
    if given:
        raise SettingError(
            f"mlx has the option compile, got {', '.join(sorted(given))}", fix="remove the others."
        )
    if not isinstance(compiles, bool):
        raise SettingError(f"compile is true or false, got {compiles!r}", fix="write one of them.")
    if compiles and (reason := why_not_compiled(kind)) is not None:
        raise SettingError(f"mlx cannot compile: {reason}", fix="set compile: false.")
    return open_device(mx.Device(kind, spec.index or 0), compiles=compiles)


def probe_mlx(index: int) -> Found | str | None:
    """Why MLX can't run here, or what it runs on; a sum is computed to see."""
    import mlx.core as mx

    kind = mx.gpu if mx.is_available(mx.gpu) else mx.cpu
    count = mx.device_count(kind)
    if index >= count:
        return f"mlx has {count} device(s)"
    with mx.stream(mx.Device(kind, index)):
        total = mx.sum(mx.ones((8,))).item()
    if total != 8.0:
        return f"a sum of eight ones gave {total}"
    if kind == mx.gpu:
        return Found(detail=str(mx.device_info().get("device_name", "GPU")))
    return Found(software=True, detail="MLX's CPU device: no Metal here")
