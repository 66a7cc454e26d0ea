"""Collecting the faults of one file: in file order, and at most 100 of them shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from rlx.errors import ConfigError, Fault, printable
from rlx.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN = 100
LONGEST = 60

MEANINGS = {
    "file-missing": "A file that was named is not there, or a link to it leads nowhere.",
    "file-not-regular": "A manifest is a folder, a pipe, a device or a socket, not a plain file.",
    "file-unreadable": "The operating system refused to read the file.",
    "file-too-large": "A manifest is larger than 1 MiB.",
    "file-empty": "A manifest holds no value: nothing, or only comments.",
    "file-not-utf8": "A manifest's bytes are not UTF-8.",
    "control-character": "A control character stands in the text, or is written as an escape.",
    "line-separator": "U+0085, U+2028 or U+2029 stands in the text: a line break to some.",
    "yaml-syntax": "The text is not valid YAML.",
    "yaml-duplicate-key": "A mapping has the same key twice; parsers differ in which one counts.",
    "yaml-ambiguous-scalar": "YAML 1.1 and 1.2 read this unquoted text differently: `no`, `012`.",
    "yaml-not-finite": "A number is infinite, not a number, or too large for a float.",
    "yaml-long-integer": "An integer has more than 40 digits.",
    "yaml-tag": "A tag such as `!!str` is used; manifests need none.",
    "yaml-merge-key": "The merge key `<<` is used; manifests spell everything out.",
    "yaml-anchor": "An anchor such as `&name` is used; manifests spell everything out.",
    "yaml-alias": "An alias such as `*name` is used; manifests spell everything out.",
    "yaml-directive": "A line such as `%YAML 1.1` is used; manifests are YAML 1.2, always.",
    "yaml-several-documents": "A file holds several documents; a manifest is one.",
    "yaml-key-not-text": "A key is a number, true, false, null, a list or a mapping.",
    "yaml-key-without-value": "A key such as `a:1` in braces lacks the blank after its colon.",
    "yaml-too-deep": "Values are nested more than 64 levels deep.",
    "yaml-too-many-values": "A manifest holds more than 100,000 values.",
    "unknown-kind": "`kind` is not one of rlx's manifest kinds.",
    "unknown-api-version": "`apiVersion` is not one that this rlx reads.",
    "missing-key": "A mapping lacks a key that it must have.",
    "unknown-key": "A mapping has a key that rlx does not know.",
    "wrong-type": "A value has another type than its key needs.",
    "bad-value": "A value has the right type, but is out of range, empty, or not a choice.",
    "coverage-path": "A coverage path is absolute, uses `..` or `\\`, or leads out of its folder.",
    "coverage-kind": "A file named as coverage is a manifest of another kind.",
    "more-faults": "A file has more faults than are shown.",
}
"""What each code of reading manifests means; for `rlx explain-code` and the documentation."""


def show(text: str) -> str:
    """Text as a message quotes it: every character visible, and not too long."""
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f"'{printable(short)}'"


class Faults:
    """The faults of one file, as they are found."""

    def __init__(self, path: str, layer: str = ""):
        self.path = path
        self.layer = layer
        self._kept: list[Fault] = []
        self._more = 0

    def __bool__(self) -> bool:
        return bool(self._kept)

    @property
    def full(self) -> bool:
        """True when a further fault is only counted: its place need not be worked out."""
        return len(self._kept) >= SHOWN

    def add(
        self,
        code: str,
        message: str,
        fix: str,
        place: tuple[int, int] = (0, 0),
        related: tuple[Origin, ...] = (),
    ) -> None:
        """Note one fault at a (line, column)."""
        if self.full:
            self._more += 1
            return
        origin = Origin(self.path, *place, self.layer)
        self._kept.append(Fault(code, message, fix, origin, related))

    def count(self) -> None:
        """Note one fault more than are shown."""
        self._more += 1

    def listed(self) -> tuple[Fault, ...]:
        """The faults in file order; the last one says how many more there are."""
        ordered = sorted(self._kept, key=lambda fault: (fault.origin.line, fault.origin.column))
        return (*ordered, *_rest(self._more, Origin(self.path, layer=self.layer)))

    def stop(self) -> NoReturn:
        """Raise what was found."""
        raise ConfigError(self.listed())


def limited(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Any faults, at most 100 of each file, in the order given; then how many more each has."""
    counts: dict[str, int] = {}
    kept: list[Fault] = []
    places: dict[str, Origin] = {}
    for fault in faults:
        path = fault.origin.path
        if fault.code == "more-faults":  # the file's faults were counted before
            kept.append(fault)
            continue
        counts[path] = counts.get(path, 0) + 1
        places.setdefault(path, Origin(path, layer=fault.origin.layer))
        if counts[path] <= SHOWN:
            kept.append(fault)
    for path, count in counts.items():
        kept.extend(_rest(count - SHOWN, places[path]))
    return tuple(kept)


def _rest(count: int, origin: Origin) -> tuple[Fault, ...]:
    if count <= 0:
        return ()
    fix = "correct those above, then run `rlx validate` again."
    return (Fault("more-faults", f"… and {count} more", fix, origin),)
