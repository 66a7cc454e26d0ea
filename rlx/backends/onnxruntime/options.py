"""Options are checked before the engine sees them: it ignores what it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.onnxruntime.engine import LEVELS
from rlx.errors import SettingError
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OWN = ("graph_optimization", "inter_op_threads", "intra_op_threads")
"""What a session of every provider takes."""


def checked(
    id: str, options: Mapping[str, object], keys: Iterable[str], ours: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The options of the session, and those of its provider as the text that the engine takes.

    `keys` are those that the provider knows; `ours` those that rlx sets by itself, and what to do
    instead of setting them.

    Raises:
        SettingError: one is not known, not to be set, or has a value that can't be right.
    """
    session: dict[str, Any] = {}
    provider: dict[str, str] = {}
    known = (*OWN, *keys)
    for name, value in options.items():
        if name in ours:
            raise SettingError(f"{id} sets {name} by itself", fix=f"{ours[name]}.")
        if name not in known:
            near = nearest(name, known)
            fix = f"did you mean {near!r}?" if near else f"use one of {', '.join(sorted(known))}."
            raise SettingError(f"{id} has no option {name!r}", fix=fix)
        if name in OWN:
            session[name] = _own(name, value)
        else:
            provider[name] = _text(name, value)
    return session, provider


def _own(name: str, value: object) -> object:
    if name == "graph_optimization":
        if value not in LEVELS:
            raise SettingError(
                f"graph_optimization must be one of {', '.join(LEVELS)}, got {value!r}",
                fix="write graph_optimization: all.",
            )
    elif not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SettingError(
            f"{name} must be a whole number from 0, got {value!r}",
            fix=f"write {name}: 0 to let the engine decide.",
        )
    return value


def _text(name: str, value: object) -> str:
    """Providers take text, and true and false as 1 and 0."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    raise SettingError(
        f"{name} must be text, a number, true or false, got {value!r:.60}",
        fix=f"write {name}: 1, for example.",
    )
