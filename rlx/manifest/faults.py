"""Collecting the faults of one file: in file order, and at most 100 of them shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from rlx.errors import Code, ConfigError, Fault, printable
from rlx.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN = 100
LONGEST = 60

MEANINGS: dict[str, Code] = {
    "file-missing": Code(
        "A file that was named is not there, or a link to it leads nowhere.",
        "correct the path, or create the file.",
    ),
    "file-not-regular": Code(
        "A manifest is a folder, a pipe, a device or a socket, not a plain file.",
        "name a plain file.",
    ),
    "file-unreadable": Code(
        "The operating system refused to read the file.", "make it readable for this user."
    ),
    "file-too-large": Code(
        "A manifest is larger than 1 MiB.", "split it: a manifest is written by people."
    ),
    "file-empty": Code(
        "A manifest holds no value: nothing, or only comments.",
        "write a manifest into it (`rlx init` writes a starter), or delete it.",
    ),
    "file-not-utf8": Code("A manifest's bytes are not UTF-8.", "save it as UTF-8."),
    "control-character": Code(
        "A control character stands in the text, or is written as an escape.", "delete it."
    ),
    "line-separator": Code(
        "U+0085, U+2028 or U+2029 stands in the text: a line break to some.",
        "write a line break, or the escape such as `\\u2028` in double quotes.",
    ),
    "yaml-syntax": Code(
        "The text is not valid YAML.",
        "see the place: most often it is indentation, or a quote or bracket left open.",
    ),
    "yaml-duplicate-key": Code(
        "A mapping has the same key twice; parsers differ in which one counts.",
        "delete one of the two.",
    ),
    "yaml-ambiguous-scalar": Code(
        "YAML 1.1 and 1.2 read this unquoted text differently: `no`, `012`.",
        "quote it for text; else write true, false or a decimal number.",
    ),
    "yaml-not-finite": Code(
        "A number is infinite, not a number, or too large for a float.",
        "write a finite number, or quote it for text.",
    ),
    "yaml-long-integer": Code(
        "An integer has more than 40 digits.", "write a shorter number, or quote it for text."
    ),
    "yaml-tag": Code(
        "A tag such as `!!str` is used; manifests need none.",
        "delete the tag; quote the value for text.",
    ),
    "yaml-merge-key": Code(
        "The merge key `<<` is used; manifests spell everything out.", "write the keys out."
    ),
    "yaml-anchor": Code(
        "An anchor such as `&name` is used; manifests spell everything out.",
        "delete it, and write the value again where it is needed.",
    ),
    "yaml-alias": Code(
        "An alias such as `*name` is used; manifests spell everything out.", "write the value out."
    ),
    "yaml-directive": Code(
        "A line such as `%YAML 1.1` is used; manifests are YAML 1.2, always.", "delete the line."
    ),
    "yaml-several-documents": Code(
        "A file holds several documents; a manifest is one.", "put each into a file of its own."
    ),
    "yaml-key-not-text": Code(
        "A key is a number, true, false, null, a list or a mapping.", "quote the key."
    ),
    "yaml-key-without-value": Code(
        "A key such as `a:1` in braces lacks the blank after its colon.",
        "write a blank after the colon.",
    ),
    "yaml-too-deep": Code(
        "Values are nested more than 64 levels deep.", "nest less: no manifest needs it."
    ),
    "yaml-too-many-values": Code(
        "A manifest holds more than 100,000 values.", "split it: a manifest is written by people."
    ),
    "unknown-kind": Code(
        "`kind` is not one of rlx's manifest kinds.",
        "write one of the kinds that the message lists.",
    ),
    "unknown-api-version": Code(
        "`apiVersion` is not one that this rlx reads.", "write `apiVersion: rlx/v1`, or update rlx."
    ),
    "missing-key": Code(
        "A mapping lacks a key that it must have.", "add the key; the message has an example."
    ),
    "unknown-key": Code(
        "A mapping has a key that rlx does not know.", "correct the spelling, or delete the key."
    ),
    "wrong-type": Code(
        "A value has another type than its key needs.",
        "write a value of the type that the message names.",
    ),
    "bad-value": Code(
        "A value has the right type, but is out of range, empty, or not a choice.",
        "write a value that the message allows.",
    ),
    "coverage-path": Code(
        "A coverage path is absolute, uses `..` or `\\`, or leads out of its folder.",
        "keep coverage below the folder of the file that names it, and use `/`.",
    ),
    "coverage-kind": Code(
        "A file named as coverage is a manifest of another kind.",
        "name a manifest of kind Coverage.",
    ),
    "coverage-chain": Code(
        "Coverage inherits its rows in a circle, or through more than three files.",
        "name a file that holds rows of its own.",
    ),
    "plugin-entry": Code(
        "A plugin's entry point is not written as `package` or `package:file.yaml`.",
        "correct it in the plugin's pyproject.toml, and install it again.",
    ),
    "plugin-place": Code(
        "A plugin's package lies where rlx can't read it, or is installed twice.",
        "install the plugin again: `pip install --force-reinstall NAME`.",
    ),
    "plugin-file": Code(
        "A plugin's manifest is named by a path, or a link, that leads out of its package.",
        "put the file itself into the package.",
    ),
    "more-faults": Code(
        "A file has more faults than are shown.",
        "correct those that are shown, then run `rlx validate` again.",
    ),
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

    def count(self, more: int = 1) -> None:
        """Note so many faults more than are shown."""
        self._more += more

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
