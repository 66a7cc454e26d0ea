"""The packaged layer's rows of claims as JSON, of which nothing is made before it is looked at.

One row, and one table of types or attributes that rows share, a line. A coverage holds runs of
them: where the first one is, and how many follow it.
"""

from __future__ import annotations

from json import dumps, loads

from rlx.origin import Origin
from rlx.registration import Later, Row

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FILE = "claims.json"


class Written:
    """Numbers the rows and the repeated tables while they are written."""

    def __init__(self) -> None:
        self.paths: dict[str, int] = {}
        self.pool: dict[str, int] = {}
        self.rows: dict[str, int] = {}

    def runs(self, rows: Sequence[Row]) -> list[list[int]]:
        """Where these rows are: one that several backends claim is written once."""
        runs: list[list[int]] = []
        for row in rows:
            place = self._row(row)
            if runs and place == sum(runs[-1]):
                runs[-1][1] += 1
            else:
                runs.append([place, 1])
        return runs

    def text(self) -> str:
        """The file's text."""
        rows, pool = ",\n".join(self.rows), ",\n".join(self.pool)
        return (
            f'{{"rows":[\n{rows}\n],\n"pool":[\n{pool}\n],\n"paths":{dumps(list(self.paths))}}}\n'
        )

    def _row(self, row: Row) -> int:
        types, attributes = (self._pooled(value) for value in (row.types, row.attributes))
        path = self.paths.setdefault(row.origin.path, len(self.paths))
        at = [path, row.origin.line, row.origin.column]
        record = dumps([row.operations, types, attributes, row.ndim, *at], separators=(",", ":"))
        return self.rows.setdefault(record, len(self.rows))

    def _pooled(self, value: Any) -> int:
        return self.pool.setdefault(dumps(value, separators=(",", ":")), len(self.pool))


class Table:
    """All rows of the layer, made when the first one is asked for."""

    def __init__(self, text: bytes, layer: str):
        self._text = text
        self._layer = layer
        self._made: list[Row] | None = None

    @property
    def rows(self) -> list[Row]:
        """Every row; two threads may both make them, and make the same."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def runs(self, runs: Sequence[Sequence[int]]) -> Later | tuple[Row, ...]:
        """The rows at these places, for later; where there are none, now."""
        if not runs:
            return ()

        def make() -> tuple[Row, ...]:
            rows = self.rows
            return tuple([row for first, count in runs for row in rows[first : first + count]])

        return Later(make)

    def _make(self) -> list[Row]:
        data = loads(self._text)
        paths, layer = data["paths"], self._layer
        pool = [tuples(one) for one in data["pool"]]
        return [
            Row(
                tuple(operations),
                pool[types],
                pool[attributes],
                ndim and (ndim[0], ndim[1]),
                Origin(paths[path], line, column, layer),
            )
            for operations, types, attributes, ndim, path, line, column in data["rows"]
        ]


def tuples(value: Any) -> Any:
    """The value with tuples for lists, however deep."""
    if not isinstance(value, list):
        return value
    # Most lists hold text alone, and are many: they are not looked through.
    return tuple([tuples(one) if type(one) is list else one for one in value])
