"""coremltools, imported without the eight lines that it logs about what this machine lacks."""

from __future__ import annotations

import logging
import warnings
from typing import Any

LOGGER = "coremltools"


def import_library() -> Any:
    """The library; its logger says nothing below an error from then on.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    logging.getLogger(LOGGER).setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own use of others, at import
        import coremltools
    return coremltools


def toolchain() -> str:
    """Its name and version.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    return f"coremltools {import_library().__version__}"
