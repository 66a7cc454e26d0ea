"""IREE's devices: opened once in a process, and freed at its end, after all that is on them.

IREE's buffers do not keep their device, nor devices their driver: freed in another order, such as
the one in which Python ends, they end the process with a segmentation fault.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import Any

from rlx.backends.forks import refuse_forked
from rlx.backends.iree.targets import kind
from rlx.backends.protocol import Found
from rlx.errors import Unavailable, printable

_lock = threading.Lock()
_devices: dict[tuple[str, int], Any] = {}
_instances: list[Any] = []
_users: weakref.WeakSet[Any] = weakref.WeakSet()
"""What holds buffers; it is closed before the devices are."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))


def instance() -> Any:
    """The virtual machine that modules are loaded into; one for the process."""
    import iree.runtime as runtime

    with _lock:
        if not _instances:
            _instances.append(runtime.VmInstance())
        return _instances[0]


def closed_at_exit(user: Any) -> None:
    """Have `user.close()` called when the process ends, before its devices are freed."""
    _users.add(user)


@atexit.register
def _free() -> None:
    for user in list(_users):
        user.close()
    _devices.clear()
    _instances.clear()


def device(name: str, index: int) -> Any:
    """A live device: `name` is rlx's.

    Raises:
        Unavailable: IREE has no driver for it here, or no such device, or it was used before a
            fork.
    """
    refuse_forked("iree")
    info = information(name, index)
    driver = _driver(name)
    with _lock:
        found = _devices.get((name, index))
        if found is None:
            try:
                found = driver.create_device(info)
            except Exception as error:
                raise Unavailable(
                    f"IREE can't open {name}:{index}: {_said(error)}",
                    fix="see the driver's own tools for its state.",
                ) from error
            _devices[name, index] = found
        return found


def information(name: str, index: int) -> dict[str, Any]:
    """What the driver says of a device: its name, and how it is opened.

    Raises:
        Unavailable: as for `device`.
    """
    try:
        found = _driver(name).query_available_devices()
    except Unavailable:
        raise
    except Exception as error:
        raise _missing(name, error) from error
    if index >= len(found):
        what = f"IREE sees {len(found)} {name} devices, {name}:{index} was asked for"
        fix = f"ask for {name}:{len(found) - 1} or lower." if found else "install its driver."
        raise Unavailable(what, fix=fix)
    information: dict[str, Any] = found[index]
    return information


def probe(name: str, index: int) -> Found | str:
    """What a device is, or why IREE can't use it; to be called in a process of its own."""
    try:
        info = information(name, index)
        device(name, index)
    except Unavailable as error:
        return error.message if error.fix is None else f"{error.message}; {error.fix.rstrip('.')}"
    return Found(software=_emulated(name, info), detail=str(info["name"]))


def _emulated(name: str, info: dict[str, Any]) -> bool:
    """Whether a CPU emulates the device, by what its driver says."""
    if name != "vulkan":
        return False
    said = _driver(name).dump_device_info(info["device_id"])
    return any(line.split() == ["type:", "cpu"] for line in said.splitlines())


def _driver(name: str) -> Any:
    import iree.runtime as runtime

    wanted = kind(name).driver
    if wanted not in runtime.query_available_drivers():
        raise Unavailable(
            f"this IREE has no driver {wanted}, which {name} needs",
            fix="install iree-base-runtime where that driver exists.",
        )
    try:
        with _lock:
            return runtime.get_driver(wanted)
    except Exception as error:
        raise _missing(name, error) from error


def _missing(name: str, error: Exception) -> Unavailable:
    return Unavailable(
        f"IREE finds no {name} here: {_said(error)}", fix=f"install the driver of {name}."
    )


def _said(error: Exception) -> str:
    """What went wrong, without the place in IREE's source that noticed it."""
    said = str(error).strip().partition("\n")[0].rpartition("; ")[2] or type(error).__name__
    return printable(said)[:200]
