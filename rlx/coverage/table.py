"""Coverage as bit masks: which backends claim all that a program needs, and what one lacks.

Per operation the rows are numbered, and each fact (a dtype of a type variable, an attribute's
value, a number of dimensions) has the mask of the rows that allow it. The AND over a node's facts
leaves the rows that claim the node, so an operation in several rows has alternatives; the backends
of those rows claim it. A row that many backends share is looked at once.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from rlx.coverage.facets import Facets, bits, mask_of
from rlx.coverage.misses import Miss, allows_ndim, nearest_miss, stored
from rlx.program.types import BARRIER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.program import Requirements, Signature
    from rlx.registration import Registration, Row

_MEMO_LIMIT = 1 << 17


class _Entry:
    """One operation: its rows, and per fact the mask of the rows that allow it."""

    __slots__ = (
        "_all",
        "_attributes",
        "_bounded",
        "_claimed",
        "_masks",
        "_ndims",
        "_types",
        "rows",
    )

    def __init__(self, rows: Sequence[tuple[Row, int]]):
        self.rows = tuple(row for row, _ in rows)
        self._masks = tuple(mask for _, mask in rows)
        self._all = (1 << len(rows)) - 1
        self._claimed: dict[int, int] = {}
        self._types: dict[tuple[str, str], int] = {}
        self._ndims: dict[int | None, int] = {}
        self._bounded = any(row.ndim is not None for row in self.rows)
        values: dict[str, dict[Any, int]] = {}
        limited: dict[str, int] = {}
        for i, row in enumerate(self.rows):
            for variable, dtypes in row.types:
                for dtype in dtypes:
                    fact = (variable, dtype)
                    self._types[fact] = self._types.get(fact, 0) | 1 << i
            for name, allowed in row.attributes:
                limited[name] = limited.get(name, 0) | 1 << i
                masks = values.setdefault(name, {})
                for value in map(stored, allowed):
                    masks[value] = masks.get(value, 0) | 1 << i
        self._attributes = tuple(
            (name, self._all & ~mask, values[name]) for name, mask in limited.items()
        )

    def claimed_by(self, signature: Signature) -> int:
        """The mask of the backends that have at least one row that claims the signature."""
        rows, types = self._all, self._types
        for fact in signature.types:
            rows &= types.get(fact, 0)
        if self._attributes:
            held = dict(signature.attributes)
            for name, free, values in self._attributes:
                rows &= free | values.get(held.get(name), 0)
        if self._bounded:
            ndims = self._ndims
            for _, ndim in signature.ndims:
                rows &= ndims[ndim] if ndim in ndims else self._at(ndim)
        claimed = self._claimed.get(rows)
        return self._backends(rows) if claimed is None else claimed

    def _at(self, ndim: int | None) -> int:
        """The mask of the rows that allow so many dimensions."""
        fits = (i for i, row in enumerate(self.rows) if allows_ndim(row, ndim))
        mask = self._ndims[ndim] = mask_of(fits, len(self.rows))
        return mask

    def _backends(self, rows: int) -> int:
        mask = 0
        for i in bits(rows):
            mask |= self._masks[i]
        self._claimed[rows] = mask
        return mask


class CoverageTable:
    """Who claims what, for registrations in order; an operation is indexed when first asked for."""

    __slots__ = ("_by_operation", "_entries", "_memo", "facets", "registrations")

    def __init__(self, registrations: Sequence[Registration]):
        self.registrations = tuple(registrations)
        self.facets = Facets(self.registrations)
        self._entries: dict[str, _Entry | None] = {}
        self._memo: dict[str, int] = {}
        self._by_operation: dict[str, list[tuple[Row, int]]] | None = None

    def covers(self, requirements: Requirements) -> int:
        """The mask of the registrations that claim every node: bit i is `registrations[i]`."""
        everything = self.facets.everything
        try:
            return reduce(and_, map(self._memo.__getitem__, requirements.keys), everything)
        except KeyError:
            return reduce(and_, map(self.claims, requirements.signatures), everything)

    def claims(self, signature: Signature) -> int:
        """The mask of the registrations that claim a node with this signature."""
        memo, key = self._memo, signature.key
        mask = memo.get(key)
        if mask is None:
            operation = signature.operation
            entries = self._entries
            entry = entries[operation] if operation in entries else self._entry(operation)
            mask = entry.claimed_by(signature) if entry and signature.known else 0
            if operation == BARRIER:  # a capability, not a claim, tells what becomes of it
                mask = self.facets.everything
            if len(memo) >= _MEMO_LIMIT:
                memo.clear()
            memo[key] = mask
        return mask

    def explain(self, index: int, signature: Signature) -> Miss:
        """Why registration `index` does not claim a node with this signature."""
        registration = self.registrations[index]
        operation = signature.operation
        rows = [row for row in registration.coverage.rows if operation in row.operations]
        if not rows:
            return Miss("operation", operation, origin=registration.source("coverage"))
        if not signature.known:
            return Miss("unknown", operation, origin=rows[0].origin)
        return nearest_miss(signature, rows)

    def _entry(self, operation: str) -> _Entry | None:
        """Index an operation; None: no row names it."""
        rows = self._rows().get(operation)
        entry = self._entries[operation] = _Entry(rows) if rows else None
        return entry

    def _rows(self) -> dict[str, list[tuple[Row, int]]]:
        """Per operation, each distinct row and the mask of the backends that have it."""
        if self._by_operation is None:
            size = len(self.registrations)
            groups: dict[int, list[int]] = {}
            for i, one in enumerate(self.registrations):
                groups.setdefault(id(one.coverage), []).append(i)
            rows: dict[int, tuple[Row, int]] = {}
            for members in groups.values():
                mask = mask_of(members, size)
                for row in self.registrations[members[0]].coverage.rows:
                    rows[id(row)] = (row, rows.get(id(row), (row, 0))[1] | mask)
            index: dict[str, list[tuple[Row, int]]] = {}
            for pair in rows.values():
                for operation in dict.fromkeys(pair[0].operations):
                    index.setdefault(operation, []).append(pair)
            self._by_operation = index
        return self._by_operation
