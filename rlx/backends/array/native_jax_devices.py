"""jax's devices: a CPU client of rlx's own, and accelerators without a fall back to the CPU."""

from __future__ import annotations

import os
import threading
from importlib.util import find_spec
from typing import Any

from rlx.backends.forks import refuse_forked
from rlx.errors import Unavailable

PLUGINS = {
    "cuda": ("jax_cuda13_plugin", "jax_cuda12_plugin"),
    "rocm": ("jax_rocm7_plugin", "jax_rocm60_plugin"),
    "tpu": ("libtpu",),
}
"""By platform, the modules of which one has to be installed."""
_GPU = frozenset({"cuda", "rocm"})
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))
_clients: dict[int, Any] = {}
"""The CPU client, by the id of its process: a child that was forked must not touch it."""


def cpu() -> Any:
    """The CPU device that rlx computes on.

    It is on a client of rlx's own. jax's own would start every other platform with it, such as
    CUDA, which takes most of the GPU's memory. Runs are not queued: they have ended when they
    return, so that an input may be written to again.

    Raises:
        Unavailable: `JAX_PLATFORMS` leaves the CPU out, or jax was used before a fork.
    """
    refuse_forked("jax")
    refuse_excluded("cpu")
    from jaxlib import xla_client

    with _lock:
        client = _clients.get(os.getpid())
        if client is None:
            client = _clients[os.getpid()] = xla_client.make_cpu_client(asynchronous=False)
    return client.local_devices()[0]


def accelerator(platform: str, index: int) -> Any:
    """One device of `cuda`, `rocm` or `tpu`.

    Raises:
        Unavailable: jax has no such device here, `JAX_PLATFORMS` leaves it out, or jax was used
            before a fork.
    """
    refuse_forked("jax")
    refuse_excluded(platform)
    # Else jax takes three quarters of a GPU's memory at once, which others share. Who sets it to
    # true, or starts jax first, keeps that.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    try:
        devices = jax.local_devices(backend=platform)
    except Exception as error:
        why, fix = _missing(platform, error)
        raise Unavailable(why, fix=fix) from error
    if index >= len(devices):
        raise Unavailable(
            f"jax sees {len(devices)} {platform} devices, {platform}:{index} was asked for",
            fix=f"ask for {platform}:{len(devices) - 1} or lower.",
        )
    found = kind(devices[index])
    if found != platform:
        raise Unavailable(f"jax gave a {found} device where {platform} was asked for")
    return devices[index]


def kind(device: Any) -> str:
    """The platform of a live device, by rlx's name: jax says `gpu` of two of them."""
    if device.platform != "gpu":
        return str(device.platform)
    return "rocm" if "rocm" in device.client.platform_version.lower() else "cuda"


def refuse_excluded(platform: str) -> None:
    """Refuse a platform that `JAX_PLATFORMS` leaves out.

    jax reads the variable letter by letter: a blank or a capital makes another platform.

    Raises:
        Unavailable: it is left out.
    """
    import jax

    stated = jax.config.jax_platforms
    if not stated:
        return
    names = stated.split(",")
    if platform in names or (platform in _GPU and "gpu" in names):
        return
    fix = f"unset it, or set it to '{platform}' or to a list with {platform}."
    if platform in (name.strip().lower() for name in names):
        fix = f"write {platform} in lower case, with no blanks around it."
    raise Unavailable(f"JAX_PLATFORMS is {stated!r}, which leaves {platform} out", fix=fix)


def _missing(platform: str, error: Exception) -> tuple[str, str]:
    """Why jax has no device of the platform, and what to do."""
    said = next(iter(str(error).strip().splitlines()), "")
    modules = PLUGINS[platform]
    if not any(find_spec(name) for name in modules):
        return (
            f"jax has no {platform} here: none of {', '.join(modules)} is installed",
            f"pip install {_package(platform)}.",
        )
    why = f": {said}" if said else f" ({type(error).__name__} without a message)"
    return f"jax finds no {platform} device{why}", "see the driver's own tools for its state."


def _package(platform: str) -> str:
    return "'jax[tpu]'" if platform == "tpu" else f"'jax[{PLUGINS[platform][0].split('_')[1]}]'"
