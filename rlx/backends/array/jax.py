"""The jax backends: static programs compiled by XLA as a whole, on CPUs, GPUs and TPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rlx.backends.array.native_jax_devices import accelerator, cpu, kind
from rlx.backends.protocol import Found
from rlx.errors import SettingError, Unavailable

if TYPE_CHECKING:
    from rlx.backends.array.engine import ArrayBackend
    from rlx.backends.array.library import Library
    from rlx.device import DeviceSpec


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open the CPU, without starting another of jax's platforms; there are no options.

    Raises:
        Unavailable: an index other than 0 was asked for, or `JAX_PLATFORMS` leaves the CPU out.
        SettingError: an option was given.
    """
    if spec.index not in (None, 0):
        raise Unavailable(f"jax-cpu has only cpu:0, got {spec}", fix="ask for cpu.")
    _refuse_options(options)
    return _open(cpu())


def open_cuda(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open one NVIDIA GPU.

    Raises:
        Unavailable: jax has no such device here, or `JAX_PLATFORMS` leaves it out.
        SettingError: an option was given.
    """
    return _open_accelerator("cuda", spec, options)


def open_rocm(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open one AMD GPU; it raises as `open_cuda` does."""
    return _open_accelerator("rocm", spec, options)


def open_tpu(spec: DeviceSpec, options: Mapping[str, object]) -> ArrayBackend:
    """Open one TPU core; it raises as `open_cuda` does."""
    return _open_accelerator("tpu", spec, options)


def probe_cuda(index: int) -> Found | str:
    """What this NVIDIA GPU is, or why jax can't use it; to be called in a process of its own."""
    return _probe("cuda", index)


def probe_rocm(index: int) -> Found | str:
    """What this AMD GPU is, or why jax can't use it; to be called in a process of its own."""
    return _probe("rocm", index)


def probe_tpu(index: int) -> Found | str:
    """What this TPU core is, or why jax can't use it; to be called in a process of its own."""
    return _probe("tpu", index)


def _probe(platform: str, index: int) -> Found | str:
    """Run a sum there, and look where it ran."""
    try:
        device = accelerator(platform, index)
    except Unavailable as error:
        return error.message if error.fix is None else f"{error.message}; {error.fix.rstrip('.')}"
    import jax
    import jax.numpy as jnp
    import numpy as np

    total = jnp.sum(jax.device_put(np.ones(8, np.float32), device))
    if total.devices() != {device} or float(total) != 8.0:
        return f"a sum of eight ones on {device} gave {float(total)} on {total.devices()}"
    return Found(detail=str(device.device_kind))


def _open_accelerator(
    platform: str, spec: DeviceSpec, options: Mapping[str, object]
) -> ArrayBackend:
    _refuse_options(options)
    return _open(accelerator(platform, spec.index or 0))


def _refuse_options(options: Mapping[str, object]) -> None:
    if options:
        raise SettingError(
            f"the jax backends have no options, got {', '.join(sorted(options))}",
            fix="remove them.",
        )


def _open(device: Any) -> ArrayBackend:
    """jax on a live device."""
    from rlx.backends.array.engine import ArrayBackend

    return ArrayBackend(library(device))


def library(device: Any) -> Library:
    """jax as an array library on a live device."""
    import jax
    import numpy as np

    from rlx.backends.array.library import Library
    from rlx.backends.array.native_jax_compile import HELD, compiler, settings
    from rlx.backends.array.native_jax_kernels import OVERRIDES
    from rlx.backends.array.native_jax_namespace import namespace

    def guard(function: Any, *arguments: Any) -> Any:
        if getattr(function, "forms", None) and function.uncompiled is None:
            return function(*arguments)  # what is compiled has its settings in it
        with settings(device):
            return function(*arguments)

    def to_native(x: Any) -> Any:
        if not _never_changes(x):
            x = np.array(x, order="C")  # jax would share its memory
        return jax.device_put(x, device)

    def owns(value: object) -> bool:
        try:
            return isinstance(value, jax.Array) and value.devices() == {device}
        except Exception:  # noqa: BLE001 - it was deleted, or is traced: reading it will say so
            return False

    return Library(
        name="jax",
        xp=namespace(kind(device)),
        version=jax.__version__,
        device=kind(device),
        to_native=to_native,
        to_host=np.array,  # a copy: jax's own view can't be written to
        owns=owns,
        guard=guard,
        overrides=OVERRIDES,
        compile=compiler(device),
        feeds=True,
        held=HELD,
    )


def _never_changes(x: Any) -> bool:
    """True for a NumPy array whose memory nothing can write to, such as a program's constant."""
    import numpy as np

    while isinstance(x, np.ndarray):
        if x.flags.writeable:
            return False
        x = x.base
    return x is None or isinstance(x, bytes)
