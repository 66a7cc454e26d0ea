"""The packaged layer as JSON: loaded without a YAML parser while it matches the YAML beside it.

What backends claim is most of it, and lies in a file of its own, which is read along and not looked
into before somebody asks what is claimed.
"""

from __future__ import annotations

import os
from hashlib import sha256
from json import dumps, loads

from rlx.device import Device
from rlx.errors import Fault
from rlx.freeze import compiled_rows
from rlx.freeze.compiled_rows import tuples as _tuples
from rlx.freeze.content import Capability, Content, Routing
from rlx.origin import Origin
from rlx.registration import Coverage, Probe, Registration, Setting

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import Any

FILE = "compiled.json"
FORMAT = 3
LAYER = "packaged"
PLAIN = (
    *("id", "device", "target", "rank", "dispatches", "reference_oracle", "software", "enabled"),
    *("factory", "install", "capabilities", "payload_format", "compiler", "materializer"),
    *("options", "safe_options"),
)


def digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of each YAML file of the packaged layer, by its path below the folder."""
    return {name: sha256(_bytes(folder / name)).hexdigest() for name in names}


def _bytes(path: Path) -> bytes:
    """The file's bytes, in as few calls as can be: in each, all other threads come first."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        parts = []
        while part := os.read(descriptor, 1 << 20):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


_kept: tuple[bytes, dict[str, str], Content] | None = None
"""The last file read: its bytes, the digests that it states, and what it says."""


def read(folder: Path) -> Content | None:
    """The compiled packaged layer; None: there is none, or the YAML beside it has changed.

    The files are read each time. While they stay as they are, so does the content, which is
    frozen: a reload costs no more than what was edited.
    """
    global _kept
    try:
        written = _bytes(folder / FILE)
        kept = _kept
        if kept is not None and kept[0] == written:
            return kept[2] if kept[1] == digests(folder, kept[1]) else None
        data = loads(written)
        if data["format"] != FORMAT or data["sources"] != digests(folder, data["sources"]):
            return None
        claims = _bytes(folder / compiled_rows.FILE)
        if data["claims"] != sha256(claims).hexdigest():
            return None
    except (OSError, ValueError, KeyError, TypeError):  # missing or cut off: the YAML says the same
        return None
    content = _Reader(data, compiled_rows.Table(claims, LAYER)).content()
    _kept = (written, data["sources"], content)
    return content


def texts(content: Content, sources: dict[str, str]) -> dict[str, str]:
    """The files' texts by name: a registration, or a row of claims, a line."""
    return _Writer().texts(content, sources)


class _Writer:
    """Numbers the paths while it writes."""

    def __init__(self) -> None:
        self.paths: dict[str, int] = {}
        self.claims = compiled_rows.Written()

    def texts(self, content: Content, sources: dict[str, str]) -> dict[str, str]:
        registrations = [self._registration(one) for one in content.registrations]
        routing, claims = content.routing, self.claims.text()
        head = {
            "format": FORMAT,
            "sources": sources,
            "claims": sha256(claims.encode("utf-8")).hexdigest(),
            "digest": content.digest,
            "vocabulary": content.vocabulary_digest,
            "files": content.sources,
            "devices": [
                [one.id, one.name, one.aliases, one.masks, one.pci] for one in content.devices
            ],
            "capabilities": [
                [one.id, one.description, self._at(one.origin)] for one in content.capabilities
            ],
            "routing": [
                None if one is None else [one.value, self._at(one.origin)]
                for one in (routing.kernel_dispatch, routing.device, routing.backend)
            ],
            "places": [[name, *self._at(origin)] for name, origin in content.places],
            "warnings": [
                [
                    w.code,
                    w.message,
                    w.fix,
                    self._at(w.origin),
                    [*map(self._at, w.related)],
                    w.severity,
                ]
                for w in content.warnings
            ],
        }
        lines = [f"{_json(key)}:{_json(value)}" for key, value in head.items()]
        lines.append('"registrations":[\n' + ",\n".join(registrations) + "\n]")
        lines.append(f'"paths":{_json(list(self.paths))}')
        return {FILE: "{" + ",\n".join(lines) + "}\n", compiled_rows.FILE: claims}

    def _at(self, origin: Origin) -> list[int]:
        return [self.paths.setdefault(origin.path, len(self.paths)), origin.line, origin.column]

    def _registration(self, one: Registration) -> str:
        record = [
            [getattr(one, name) for name in PLAIN],
            [[p.kind, p.values, p.version, p.timeout, self._at(p.origin)] for p in one.probes],
            self._at(one.origin),
            [[name, [[s.value, self._at(s.origin)] for s in all_]] for name, all_ in one.history],
        ]
        claims = ",".join(map(self._coverage, (one.coverage, one.compiles)))
        return f"[{','.join(map(_json, record))},{claims}]"

    def _coverage(self, coverage: Coverage | None) -> str:
        if coverage is None:
            return "null"
        head = [coverage.evidence, coverage.inherited_from, coverage.engine]
        head += [coverage.platform, coverage.digest]
        return _json([head, self.claims.runs(coverage.rows)])


class _Reader:
    """The inverse; the file is ours and its digests match, so nothing is checked again."""

    def __init__(self, data: dict[str, Any], claims: compiled_rows.Table):
        self.data = data
        self.paths: list[str] = data["paths"]
        self.claims = claims

    def content(self) -> Content:
        data = self.data
        return Content(
            registrations=tuple(map(self._registration, data["registrations"])),
            devices=tuple(
                Device(one, name, *map(tuple, lists)) for one, name, *lists in data["devices"]
            ),
            capabilities=tuple(
                Capability(one, description, self._at(*at))
                for one, description, at in data["capabilities"]
            ),
            routing=Routing(
                *(
                    None if one is None else Setting(one[0], self._at(*one[1]))
                    for one in data["routing"]
                )
            ),
            places=tuple((name, self._at(*at)) for name, *at in data["places"]),
            vocabulary_digest=data["vocabulary"],
            warnings=tuple(
                Fault(
                    code,
                    message,
                    fix,
                    self._at(*at),
                    tuple(self._at(*r) for r in related),
                    severity,
                )
                for code, message, fix, at, related, severity in data["warnings"]
            ),
            sources=tuple(data["files"]),
            digest=data["digest"],
        )

    def _at(self, path: int, line: int, column: int) -> Origin:
        return Origin(self.paths[path], line, column, LAYER)

    def _registration(self, record: Sequence[Any]) -> Registration:
        plain, probes, at, history, coverage, compiles = record
        return Registration(
            **dict(zip(PLAIN, map(_tuples, plain), strict=True)),
            probes=tuple(
                Probe(kind, tuple(values), version, timeout, self._at(*where))
                for kind, values, version, timeout, where in probes
            ),
            coverage=self._coverage(coverage),
            compiles=None if compiles is None else self._coverage(compiles),
            origin=self._at(*at),
            history=tuple(
                (
                    name,
                    tuple(Setting(_tuples(value), self._at(*where)) for value, where in settings),
                )
                for name, settings in history
            ),
        )

    def _coverage(self, record: Sequence[Any]) -> Coverage:
        (evidence, inherited_from, engine, platform, digest), runs = record
        rows: Any = self.claims.runs(runs)
        return Coverage(rows, evidence, inherited_from, engine, platform, digest)


def _json(value: Any) -> str:
    return dumps(value, separators=(",", ":"))
