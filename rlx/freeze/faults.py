"""Collecting every fault of a freeze, and the places that faults point at."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from rlx.errors import Fault, printable
from rlx.freeze.codes import CODES
from rlx.manifest.faults import limited
from rlx.manifest.faults import show as quoted
from rlx.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rlx.manifest.loader import Manifest

Key = str | int
MOST = 10_000
"""Faults that are kept of one freeze: of each file 100 are shown."""


class Place(Protocol):
    """A node of a manifest, or a record made in code: says where what is below it was written."""

    def at(self, *keys: Key) -> Origin:
        """Where the value below these keys stands."""
        ...

    def key(self, *keys: Key) -> Origin:
        """Where the last of these keys stands."""
        ...

    def below(self, *keys: Key) -> Place:
        """The place of the node below these keys."""
        ...


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a manifest."""

    manifest: Manifest
    keys: tuple[Key, ...] = ()

    @property
    def model(self) -> Any:
        """The manifest's model, of whichever kind."""
        return self.manifest.model

    def at(self, *keys: Key) -> Origin:
        """Where the value below these keys stands."""
        return self.manifest.origin(*self.keys, *keys)

    def key(self, *keys: Key) -> Origin:
        """Where the last of these keys stands."""
        return self.manifest.key_origin(*self.keys, *keys)

    def below(self, *keys: Key) -> Node:
        """The node below these keys."""
        return Node(self.manifest, (*self.keys, *keys))


@dataclass(frozen=True, slots=True)
class Spot:
    """One place for everything: a record made in code, or one that was compiled."""

    origin: Origin

    def at(self, *_keys: Key) -> Origin:
        """The one place."""
        return self.origin

    def key(self, *_keys: Key) -> Origin:
        """The one place."""
        return self.origin

    def below(self, *_keys: Key) -> Spot:
        """The one place."""
        return self


@dataclass(slots=True)
class Faults:
    """Everything that is wrong, gathered while freezing; no rule stops at the first."""

    found: list[Fault] = field(default_factory=list)
    _later: dict[Fault, Callable[[], str]] = field(default_factory=dict)
    """The fixes that are worked out for those faults alone that are shown: that can be slow."""

    @property
    def full(self) -> bool:
        """True when a further fault is dropped: what would find many need not look."""
        return len(self.found) >= MOST

    def add(
        self,
        code: str,
        origin: Origin,
        message: str,
        fix: str | Callable[[], str],
        *related: Origin,
    ) -> None:
        """Note one fault; its code is one of the table's. Keys and names are made visible."""
        assert code in CODES, code
        if self.full:
            return
        told = printable(fix) if isinstance(fix, str) else ""
        fault = Fault(code, printable(message), told, origin, related)
        if not isinstance(fix, str):
            self._later[fault] = fix
        self.found.append(fault)

    def twice(self, what: str, items: Sequence[object], place: Place) -> None:
        """Every item of a list that an earlier item equals."""
        first: dict[object, int] = {}
        for index, item in enumerate(items):
            earlier = first.setdefault(item, index)
            if earlier != index:
                self.add(
                    "listed-twice",
                    place.at(index),
                    f"{what} lists {show(item)} twice, first at {place.at(earlier)}",
                    "delete one of them.",
                    place.at(earlier),
                )

    def in_order(self, paths: Iterable[str]) -> tuple[Fault, ...]:
        """Each once, by file and then by place; of a file with very many, the first ones."""
        order = {path: index for index, path in enumerate(paths)}
        shown = limited(
            sorted(
                dict.fromkeys(self.found),
                key=lambda fault: (
                    order.get(fault.origin.path, len(order)),
                    fault.origin.path,
                    fault.origin.line,
                    fault.origin.column,
                    fault.message,
                ),
            )
        )
        later = self._later
        told = tuple(
            replace(one, fix=printable(later[one]())) if one in later else one for one in shown
        )
        if not self.full:
            return told
        origin = Origin(told[-1].origin.path, layer=told[-1].origin.layer)
        fix = "correct those above, then run `rlx validate` again."
        message = f"… and perhaps more: rlx looks for {MOST}"
        return (*told, Fault("more-faults", message, fix, origin))


def show(value: object) -> str:
    """A value as a message quotes it: control characters escaped, as YAML writes the rest."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, (list, tuple)):
        try:
            return "[" + ", ".join(map(show, value)) + "]"
        except RecursionError:  # made in code: a list that holds itself
            return repr(value)
    return quoted(value) if isinstance(value, str) else repr(value)
