"""`RLX_LOG`: how much the logger `rlx` shows, and where."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.settings import Environment

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}
_applied: str | None = None


def apply(environment: Environment) -> None:
    """Set the level that `RLX_LOG` names; without it, the application's set-up is left alone.

    Lines go to standard error where the application has no handler of its own.
    """
    global _applied
    level = environment.value("RLX_LOG")
    if level == _applied:
        return
    logger = logging.getLogger("rlx")
    logger.setLevel(_LEVELS[level] if level else logging.NOTSET)
    if level and not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)
    _applied = level
