"""The versions of IREE's compiler and of its runtime, which are two packages."""

from __future__ import annotations

import importlib


def compiler() -> str:
    """The compiler's version, such as `3.13.0`.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    return _version("iree.compiler.version")


def runtime() -> str:
    """The runtime's version; it raises as `compiler` does."""
    return _version("iree.runtime.version")


def _version(module: str) -> str:
    """A release calls itself a candidate of its day: `3.13.0rc20261016`."""
    return str(importlib.import_module(module).VERSION).partition("rc")[0]
