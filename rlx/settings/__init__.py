"""Settings: RLX_* environment, scopes and arguments become one `Request`. Only this reads RLX_*."""

from __future__ import annotations

from rlx.settings.listing import Effective, effective
from rlx.settings.placement import Placement, placements
from rlx.settings.reading import (
    Environment,
    UnknownSetting,
    cache_folder,
    configuration,
    environment,
    routing_stamp,
)
from rlx.settings.request import Request, make_request
from rlx.settings.scope import NO_SCOPE, Scope, current_scope, scope_stamp, use
from rlx.settings.variables import VARIABLES, Variable


def stamp() -> tuple[object, ...]:
    """What changes when the scope, or a variable that routing depends on, changes.

    For caching a route: cheap, hashable, and it checks nothing. Make the request anew (that
    checks) when the stamp was not seen before.
    """
    return (scope_stamp(), *routing_stamp())


__all__ = [
    "NO_SCOPE",
    "VARIABLES",
    "Effective",
    "Environment",
    "Placement",
    "Request",
    "Scope",
    "UnknownSetting",
    "Variable",
    "cache_folder",
    "configuration",
    "current_scope",
    "effective",
    "environment",
    "make_request",
    "placements",
    "stamp",
    "use",
]
