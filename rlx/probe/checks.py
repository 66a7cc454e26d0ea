"""The five kinds of probe: each check returns what it found, and never raises."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rlx.probe.host import platforms
from rlx.probe.modules import missing
from rlx.probe.process import Answer, ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.registration import Probe

FOREIGN = frozenset({"call", "library"})
"""The kinds that run what a manifest names: only for trusted layers, only in a child."""
_KNOWN_SYSTEMS = frozenset({"linux", "macos", "windows", "freebsd", "android", "ios"})


def host() -> tuple[str, str]:
    """The operating system and the machine, normalised: `("linux", "x86_64")`."""
    return platforms.here()


def check(probe: Probe, index: int) -> Answer:
    """Run one probe."""
    if probe.kind in FOREIGN and not probe.trusted:
        return Answer(
            f"its {probe.kind} probe {probe.values[0]} was not run: its file is not trusted"
        )
    return _KINDS[probe.kind](probe, index)


def _platform(probe: Probe, index: int) -> Answer:  # noqa: ARG001 - all kinds are called alike
    """Systems and machines: one of each, where any of that sort is named."""
    wanted = [platforms.normal(value) for value in probe.values]
    systems = [name for name in wanted if name in _KNOWN_SYSTEMS]
    machines = [name for name in wanted if name not in _KNOWN_SYSTEMS]
    system, machine = host()
    if (not systems or system in systems) and (not machines or machine in machines):
        return Answer()
    needed = " on ".join(" or ".join(names) for names in (systems, machines) if names)
    return Answer(f"it needs {needed}, this is {system} on {machine}")


def _module(probe: Probe, index: int) -> Answer:  # noqa: ARG001 - all kinds are called alike
    return Answer(missing(probe.values[0], probe.version))


def _path(probe: Probe, index: int) -> Answer:  # noqa: ARG001 - all kinds are called alike
    path = probe.values[0]
    if not os.path.isabs(path):  # noqa: PTH117 - the text as it was written
        return Answer(f"path {path} is not absolute, and no folder is searched for it")
    try:
        os.stat(path)  # noqa: PTH116 - the text as it was written
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Answer(f"path {path} cannot be used: {why}")
    return Answer()


def _library(probe: Probe, index: int) -> Answer:
    name = probe.values[0]
    if not os.path.isabs(name) and ("/" in name or "\\" in name):  # noqa: PTH117 - text
        return Answer(f"library {name} is neither an absolute path nor a name without a folder")
    return ask("library", name, index, probe.timeout)


def _call(probe: Probe, index: int) -> Answer:
    return ask("call", probe.values[0], index, probe.timeout)


_KINDS: dict[str, Callable[[Probe, int], Answer]] = {
    "platform": _platform,
    "module": _module,
    "path": _path,
    "library": _library,
    "call": _call,
}
