"""Probes: from a manifest's mapping to the frozen record, and their rules."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from rlx.freeze import names
from rlx.freeze.faults import Node, show
from rlx.registration import Probe
from rlx.spelling import nearest

if TYPE_CHECKING:
    from rlx.freeze.faults import Faults, Place
    from rlx.manifest.models import ProbeModel
    from rlx.origin import Origin

KINDS = ("platform", "module", "library", "path", "call")
SYSTEMS = ("android", "cygwin", "darwin", "freebsd", "ios", "linux", "macos", "win32", "windows")
MACHINES = ("aarch64", "amd64", "arm64", "armv7l", "i686", "ppc64le", "riscv64", "s390x", "x86_64")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]|\\\\")
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_EXAMPLE = 'write one kind, such as {module: numpy, version: ">=2"}.'


def probe(model: ProbeModel, place: Place, trusted: bool, faults: Faults) -> Probe:
    """The record of one probe; without a kind, where it has no single one, which is noted."""
    given = [kind for kind in KINDS if getattr(model, kind) is not None]
    if len(given) != 1:
        got = f"has {' and '.join(given)}" if given else "has none"
        faults.add(
            "probe-kind",
            place.at(),
            f"a probe has exactly one kind of {_listed(KINDS)}; this {got}",
            _EXAMPLE,
        )
        return Probe("", (), origin=place.at())
    kind = given[0]
    value = getattr(model, kind)
    for key, owner in (("version", "module"), ("timeout", "call")):
        if getattr(model, key) is not None and kind != owner:
            faults.add(
                "probe-key",
                place.key(key),
                f"{key} belongs to a {owner} probe, this is a {kind} probe",
                "delete it.",
            )
    made = Probe(
        kind,
        value if isinstance(value, tuple) else (value,),
        version=model.version if kind == "module" else None,
        origin=place.at(),
        trusted=trusted,
    )
    if kind == "call" and model.timeout is not None:
        made = Probe(kind, made.values, None, model.timeout, made.origin, trusted)
    return made


def check(one: Probe, place: Place, faults: Faults) -> None:
    """The rules of one probe, however it was made."""
    if not one.kind and isinstance(place, Node):
        return  # what was read without a single kind keeps the place of those after it
    if one.kind not in KINDS:
        faults.add(
            "probe-kind",
            place.at(),
            f"a probe's kind is one of {_listed(KINDS)}, got {show(one.kind)}",
            _EXAMPLE,
        )
    elif one.kind == "platform":
        if not one.values:
            faults.add(
                "probe-kind",
                place.at("platform"),
                "platform lists nothing",
                "name a platform, such as linux.",
            )
        faults.twice("platform", one.values, place.below("platform"))
        for index, value in enumerate(one.values):
            _system(value, place.at("platform", index), faults)
    elif len(one.values) != 1:
        faults.add(
            "probe-kind",
            place.at(),
            f"a {one.kind} probe has one value, got {len(one.values)}",
            _EXAMPLE,
        )
    elif not one.values[0] or "\0" in one.values[0]:
        faults.add(
            "probe-kind",
            place.at(one.kind),
            f"a {one.kind} probe's value is a name, got {show(one.values[0])}",
            _EXAMPLE,
        )
    elif one.kind == "module":
        _module(one, place, faults)
    elif one.kind == "path" and not _ABSOLUTE.match(one.values[0]):
        faults.add(
            "probe-path",
            place.at("path"),
            f"path must be absolute, got {show(one.values[0])}",
            "write the whole path, such as /dev/kfd.",
        )
    elif one.kind == "call":
        names.entry_point("call", one.values[0], place.at("call"), faults)
        if not (math.isfinite(one.timeout) and one.timeout > 0):
            faults.add(
                "probe-timeout",
                place.at("timeout"),
                f"timeout must be a finite number of seconds above 0, got {one.timeout!r}",
                "write seconds, such as 10.",
            )


def _system(name: str, origin: Origin, faults: Faults) -> None:
    """A name that is one slip away from a system's would silently match nothing."""
    near = nearest(name, SYSTEMS)
    if near is not None and near != name.lower() and name.lower() not in MACHINES:
        faults.add(
            "probe-platform",
            origin,
            f"unknown platform {show(name)}",
            f"did you mean {near!r}?",
        )


def _module(one: Probe, place: Place, faults: Faults) -> None:
    name = one.values[0]
    if not _MODULE.fullmatch(name):
        top = name.partition(".")[0]
        faults.add(
            "probe-module",
            place.at("module"),
            f"module must be a top-level module, found without importing it, got {show(name)}",
            f"write {top}." if _MODULE.fullmatch(top) else "write a module's name, such as numpy.",
        )
    if one.version is not None:
        from packaging.specifiers import InvalidSpecifier, SpecifierSet

        try:
            SpecifierSet(one.version)
        except InvalidSpecifier:
            faults.add(
                "probe-version",
                place.at("version"),
                f"version must be a PEP 440 specifier set, got {show(one.version)}",
                'write it as ">=2.4" or ">=2.4,<3".',
            )


def text(one: Probe) -> str:
    """A probe on one line, for listings: `module torch >=2.4`."""
    version = f" {one.version}" if one.version else ""
    return f"{one.kind} {', '.join(one.values)}{version}"


def _listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
