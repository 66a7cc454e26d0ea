"""What a backend does not claim of one node: the exact check, and the fact to blame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.operations.values import single_precision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.origin import Origin
    from rlx.program import Signature
    from rlx.registration import Row


@dataclass(frozen=True, slots=True)
class Miss:
    """What one backend does not claim of one node: the first fact that fails, and what is allowed.

    `kind` is `operation` (in no row), `unknown` (a type could not be inferred, or there is no
    such operation), `type`, `attribute` or `ndim`. `name` is the type variable or attribute;
    `position` the input, for `ndim`. `allowed` holds dtypes, values, or (min, max) bounds.
    """

    kind: str
    operation: str
    name: str = ""
    position: int = 0
    got: Any = None
    allowed: tuple[Any, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    """The node's other types, where each fact alone is claimed but not all together."""
    origin: Origin | None = None
    """The nearest row's place."""


def stored(value: Any) -> Any:
    """An attribute's value as nodes hold it: FLOAT has 32 bits, lists are tuples."""
    if isinstance(value, float):
        return single_precision(value)
    return tuple(map(stored, value)) if isinstance(value, list | tuple) else value


def allows_ndim(row: Row, ndim: int | None) -> bool:
    """True when the row's bound holds; an unknown number of dimensions satisfies no bound."""
    if row.ndim is None:
        return True
    low, high = row.ndim
    return ndim is not None and low <= ndim and (high is None or ndim <= high)


def nearest_miss(signature: Signature, rows: Sequence[Row]) -> Miss:
    """The fact to blame: one that no row allows, else the first that the nearest row refuses."""
    facts = _facts(signature, rows)
    table = [[_holds(row, fact) for fact in facts] for row in rows]
    nearest = max(range(len(rows)), key=lambda i: (sum(table[i]), -i))
    origin = rows[nearest].origin
    for column, fact in enumerate(facts):
        if not any(held[column] for held in table):
            allowed = dict.fromkeys(value for row in rows for value in _allowed(row, fact))
            return Miss(fact[0], signature.operation, *fact[1:], tuple(allowed), origin=origin)
    fact = facts[table[nearest].index(False)]
    beside = tuple(
        pair for pair in signature.types if fact[0] != "type" or pair != (fact[1], fact[3])
    )
    allowed = dict.fromkeys(_allowed(rows[nearest], fact))
    return Miss(fact[0], signature.operation, *fact[1:], tuple(allowed), beside, origin)


_Fact = tuple[str, str, int, Any]
"""The kind, the name, the position and what the node has."""


def _facts(signature: Signature, rows: Sequence[Row]) -> list[_Fact]:
    held = dict(signature.attributes)
    limited = dict.fromkeys(name for row in rows for name, _ in row.attributes)
    return [
        *(("type", variable, 0, dtype) for variable, dtype in signature.types),
        *(("attribute", name, 0, held.get(name)) for name in limited),
        *(("ndim", "", position, ndim) for position, ndim in signature.ndims),
    ]


def _holds(row: Row, fact: _Fact) -> bool:
    kind, name, _, got = fact
    if kind == "ndim":
        return allows_ndim(row, got)
    if kind == "attribute" and all(name != key for key, _ in row.attributes):
        return True
    return got in _allowed(row, fact)


def _allowed(row: Row, fact: _Fact) -> tuple[Any, ...]:
    kind, name, _, _ = fact
    if kind == "ndim":
        return (row.ndim,)
    if kind == "type":
        return next((dtypes for variable, dtypes in row.types if variable == name), ())
    return next((tuple(map(stored, values)) for key, values in row.attributes if key == name), ())
