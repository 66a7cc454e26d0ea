"""Whether a record made in code has the types that its annotations say, down to the last item."""

from __future__ import annotations

import types
import typing
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@cache
def hints(record: type) -> dict[str, Any]:
    """The type of each field, by name."""
    return typing.get_type_hints(record, localns={"Any": Any, "OptionValue": Any})


def misfits(place: str, value: Any, hint: Any) -> Iterator[tuple[str, str, Any]]:
    """What has another type: where it stands, in words what is wanted there, and what is there."""
    items = _items(hint)
    if items is not None and isinstance(value, tuple):
        for index, item in enumerate(value):
            if type(item) is items:
                yield from misfits(f"{place}[{index}]", item, items)
            elif not _fits(item, items):
                yield place, _words(hint), item
        return
    record: Any = type(value)
    if record in _choices(hint):  # a record has fields; text and numbers have none
        for name, inner in hints(record).items():
            yield from misfits(f"{place}.{name}", getattr(value, name), inner)
    elif not _fits(value, hint):
        yield place, _words(hint), value


def _choices(hint: Any) -> tuple[Any, ...]:
    union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    return typing.get_args(hint) if union else (hint,)


def _items(hint: Any) -> Any:
    """X of `tuple[X, ...]`; None of anything else."""
    given = typing.get_args(hint)
    return given[0] if typing.get_origin(hint) is tuple and given[-1] is ... else None


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    choices = _choices(hint)
    if len(choices) > 1:
        return any(_fits(value, one) for one in choices)
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, tuple):
            return False
        items, each = _items(hint), typing.get_args(hint)
        if items is not None:
            return all(_fits(one, items) for one in value)
        return len(value) == len(each) and all(map(_fits, value, each))
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, (int, float) if hint is float else hint)


def _words(hint: Any) -> str:
    choices = _choices(hint)
    if len(choices) > 1:
        return " or ".join(map(_words, choices))
    if typing.get_origin(hint) is tuple:
        items = _items(hint)
        if items is not None:
            return f"tuple of {_words(items)}"
        return f"({', '.join(map(_words, typing.get_args(hint)))})"
    if hint is Any:
        return "any value"
    return "None" if hint is type(None) else str(hint.__name__)
