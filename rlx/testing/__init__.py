"""For authors of backends and for tests: a conformance kit, a null backend, registries in code.

`check_backend("mine").require()` is a whole conformance test of a backend; `case` makes programs
of your own for it. The null backend opens on any device, compiles any program and returns zeros of
the declared types; a `Watch` counts what is done with it, and can make it fail, wait, or lie.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rlx.testing.null import (
    FACTORY,
    NullBackend,
    NullExecutable,
    Watch,
    forget_watches,
    open_null,
    watch,
)
from rlx.testing.registered import covering, registration, registry

if TYPE_CHECKING:
    from rlx.testing.checking import check_backend
    from rlx.testing.own_cases import case
    from rlx.testing.report import Report

_KIT = {"check_backend": "checking", "case": "own_cases", "Report": "report"}
"""What needs onnx's suite is imported when it is first used."""

__all__ = [
    "FACTORY",
    "NullBackend",
    "NullExecutable",
    "Report",
    "Watch",
    "case",
    "check_backend",
    "covering",
    "forget_watches",
    "open_null",
    "registration",
    "registry",
    "watch",
]


def __getattr__(name: str) -> Any:
    home = _KIT.get(name)
    if home is None:
        raise AttributeError(f"module 'rlx.testing' has no attribute {name!r}")
    return getattr(import_module(f"rlx.testing.{home}"), name)
