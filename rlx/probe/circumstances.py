"""What the answer of an engine may depend on, as a digest: another one, and it is asked again.

Nothing is left out because it is unlikely to matter. What is installed is read from the names of
all distributions, since an engine's plugins are packages of their own; of the environment only
those variables are left out that change by themselves and that no engine reads.
"""

from __future__ import annotations

import functools
import importlib.machinery
import os
import platform
import stat
import sys
from typing import Any

from rlx.probe import store
from rlx.probe.host import host
from rlx.probe.modules import SUFFIXES

IGNORED = frozenset(
    {"_", "OLDPWD", "PWD", "SHLVL", "TERM", "COLORTERM", "COLUMNS", "LINES", "LS_COLORS"}
    | {"WINDOWID", "STY", "TMUX", "TMUX_PANE", "XDG_SESSION_ID", "XDG_VTNR", "PS1", "PROMPT"}
    | {"DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY"}
    | {"PYTEST_CURRENT_TEST", "NO_COLOR", "FORCE_COLOR", "LESS", "PAGER", "EDITOR", "HISTFILE"}
)
"""Variables that say nothing to an engine."""
PREFIXES = ("RLX_", "TERM_", "GITHUB_", "VSCODE_")
"""The same, by how their names begin; rlx's own are part of the question where they matter."""
SYSTEM = (
    *("/etc/ld.so.cache", "/etc/OpenCL/vendors", "/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d"),
    *("/usr/share/glvnd/egl_vendor.d", "/etc/glvnd/egl_vendor.d"),
)
"""What changes when a driver's libraries are installed: the loader's index, lists of drivers."""
MANY = 3000
"""Python files of a package that are looked at."""


def digest(*references: str) -> str:
    """The digest of everything here that the answers of `module:attribute`s may depend on."""
    # The version of rlx is that of its distribution, which is listed like all others.
    return store.digest(
        [sys.executable, sys.version, [*sys.flags]],
        [[entry, _installed(entry)] for entry in map(os.path.abspath, sys.path)],
        sorted([name, value] for name, value in os.environ.items() if _matters(name)),
        _machine(),
        [[path, _mark(path)] for path in SYSTEM],
        [[name, _source(name)] for name in references],
    )


def _matters(name: str) -> bool:
    return name not in IGNORED and not name.startswith(PREFIXES)


def _installed(entry: str) -> list[Any]:
    """The distributions of one path entry, each with the time at which it was installed."""
    found = []
    try:
        with os.scandir(entry) as entries:
            for one in entries:
                if one.name.endswith(SUFFIXES):
                    found.append([one.name, one.stat().st_mtime_ns])
    except OSError:
        pass
    return sorted(found)


def _machine() -> list[Any]:
    """The machine, its hardware and drivers, and who may use them."""
    here = host()
    own = [os.getuid(), os.getgid(), sorted(os.getgroups())] if hasattr(os, "getgroups") else []
    pci = None if here.pci is None else [[one.address, one.vendor, one.device] for one in here.pci]
    return [
        *(platform.node(), here.system, here.machine, here.version, here.kernel, here.libc_version),
        *(here.boot, here.drivers, pci, own),
        [[node, _permissions(node)] for node in here.nodes],
    ]


def _permissions(path: str) -> list[int] | None:
    """Who may use a node: not its times, which change with each use."""
    try:
        found = os.stat(path)  # noqa: PTH116 - text throughout
    except OSError:
        return None
    return [stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, getattr(found, "st_rdev", 0)]


def _mark(path: str) -> list[int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - text throughout
    except OSError:
        return None
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def _source(reference: str) -> list[Any]:
    """The files of the package of a `module:attribute`, found without importing anything."""
    top = reference.partition(":")[0].partition(".")[0]
    spec = importlib.machinery.PathFinder.find_spec(top)
    if spec is None:
        return []
    folders = sorted(spec.submodule_search_locations or ())
    return [spec.origin, _mark(spec.origin or ""), *([one, _newest(one)] for one in folders)]


@functools.cache
def _newest(folder: str) -> list[int]:
    """How many Python files there are, and the time of the newest: once per process.

    Of a package that is larger than any adapter, only that it is.
    """
    times: list[int] = []
    for place, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".py"):
                mark = _mark(os.path.join(place, name))  # noqa: PTH118 - text throughout
                times.append(mark[0] if mark else 0)
        if len(times) > MANY:
            return [MANY]
    return [len(times), max(times, default=0)]


def forget() -> None:
    """Look at files again."""
    _newest.cache_clear()
