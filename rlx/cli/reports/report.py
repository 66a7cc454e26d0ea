"""Checking manifests for `rlx validate`: every fault of every file, each once."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from rlx.cli.reports.targets import STDIN
from rlx.errors import ConfigError, Fault, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from rlx.freeze.content import Content
    from rlx.freeze.overlay import Overlay
    from rlx.manifest.plugins.finding import Plugin

NAME = "<stdin>"
"""How standard input is called where the user gives it no name."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked, and what is wrong."""

    checked: tuple[str, ...]
    """The files, as the user named them or as messages show them."""
    faults: tuple[Fault, ...]
    strict: bool = False
    texts: dict[str, bytes] = field(default_factory=dict)
    """What was checked without being a file, by its name."""
    installed: dict[str, Path] = field(default_factory=dict)
    """The plugins' files, by what messages call them."""

    def level(self, fault: Fault) -> str:
        """`error` or `warning`; under `strict`, all are errors."""
        return "error" if self.strict else fault.severity

    @property
    def errors(self) -> int:
        """How many faults make the answer no."""
        return sum(self.level(fault) == "error" for fault in self.faults)

    @property
    def summary(self) -> str:
        """One line that counts."""
        noun = "file" if len(self.checked) == 1 else "files"
        counted = ((self.errors, "error"), (len(self.faults) - self.errors, "warning"))
        parts = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in counted if n]
        return f"{len(self.checked)} {noun} checked: {', '.join(parts) or 'no faults'}"


def check(files: Sequence[str], strict: bool = False, stdin: str | None = None) -> Report:
    """Judge each file above the packaged layer; without files, the layers in force here.

    `stdin` is the name under which standard input, `-`, is judged: coverage paths in it are
    followed from there.
    """
    if not files:
        return _in_force(strict)
    texts = {stdin or NAME: _standard_input()} if STDIN in files else {}
    names = tuple((stdin or NAME) if file == STDIN else file for file in files)
    faults: dict[Fault, None] = {}
    below = _below(faults)
    for file, name in zip(files, names, strict=True):
        data = texts[name] if file == STDIN else None
        faults.update(dict.fromkeys(_of_one(name, data, below)))
    installed = {} if below is None else _files(below.plugins)
    return Report(names, tuple(faults), strict, texts, installed)


def _in_force(strict: bool) -> Report:
    from rlx.manifest.discovery import find
    from rlx.manifest.plugins import find_plugins
    from rlx.session.default import load_registry
    from rlx.settings import configuration

    try:
        registry = load_registry()
    except ConfigError as error:
        named, only = configuration()
        found = find((), only, environment=named or None)
        names = tuple(one.shown for one in found)
        faults = tuple(dict.fromkeys(error.faults))
        return Report(names, faults, strict, installed=_files(find_plugins()))
    installed = _files(registry.plugins)
    return Report(registry.sources, registry.warnings, strict, installed=installed)


def _files(plugins: Iterable[Plugin]) -> dict[str, Path]:
    """What messages call by a plugin's name: its manifests, and its entry points."""
    from rlx.manifest.plugins.distributions import FILE

    files: dict[str, Path] = {}
    for one in plugins:
        files |= {file.shown: file.path for file in one.files}
        if one.points is not None:
            files[f"{one} {FILE}"] = one.points
    return files


def _below(faults: dict[Fault, None]) -> Overlay | None:
    """The layers below every file; None, with faults, where they are broken themselves."""
    from rlx.freeze.overlay import Overlay

    try:
        return Overlay()
    except ConfigError as error:
        faults.update(dict.fromkeys(error.faults))
        return None


def _of_one(name: str, data: bytes | None, below: Overlay | None) -> Iterator[Fault]:
    """The faults of one file, and the warnings that it has a part in."""
    try:
        content = _content(name, data, below)
    except ConfigError as error:
        yield from error.faults
        return
    shown = printable(name)
    for warning in content.warnings if content else ():
        if any(place.path == shown for place in (warning.origin, *warning.related)):
            yield warning


def _content(name: str, data: bytes | None, below: Overlay | None) -> Content | None:
    if below is None:  # nothing can be judged above it, but a file has faults of its own
        from rlx.manifest import parse, read_file
        from rlx.manifest.shape import check as shape

        if data is None:
            read_file(name)
        else:
            shape(parse(data, printable(name), "argument"))
        return None
    return below.of_file(name) if data is None else below.of_bytes(data, name)


def _standard_input() -> bytes:
    """All of it, as far as a manifest may be long."""
    from rlx.manifest.text import MAX_BYTES

    if sys.stdin is None:
        raise click.UsageError("standard input is closed. Fix: pipe a manifest into it.")
    return sys.stdin.buffer.read(MAX_BYTES + 1)
