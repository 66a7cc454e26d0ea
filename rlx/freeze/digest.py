"""SHA-256 of what matters in a registry: the same for any file order, hash seed and machine."""

from __future__ import annotations

from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlx.device import Device
    from rlx.freeze.content import Content
    from rlx.registration import Coverage, Registration

PLAIN = (
    *("id", "device", "target", "rank", "dispatches", "reference_oracle", "software", "enabled"),
    *("factory", "install", "payload_format", "compiler", "materializer", "options"),
)


def digest(content: Content) -> str:
    """The digest of everything but places, notes and warnings."""
    routing = content.routing
    return plain_digest(
        [
            content.vocabulary_digest,
            sorted(map(_device, content.devices)),
            sorted([one.id, one.description] for one in content.capabilities),
            [
                None if setting is None else setting.value
                for setting in (routing.kernel_dispatch, routing.device, routing.backend)
            ],
            sorted(map(_registration, content.registrations), key=lambda record: record[0]),
        ]
    )


def coverage_digest(coverage: Coverage) -> str:
    """The digest of one backend's claims and their evidence."""
    return plain_digest(
        [
            coverage.evidence,
            coverage.inherited_from,
            coverage.engine,
            coverage.platform,
            [[row.operations, row.types, row.attributes, row.ndim] for row in coverage.rows],
        ]
    )


def registration_digest(one: Registration) -> str:
    """The digest of one backend: of everything that its registration says, but for places."""
    return plain_digest(_registration(one))


def _device(one: Device) -> list[Any]:
    return [one.id, one.name, *map(sorted, (one.aliases, one.masks, one.pci))]


def _registration(one: Registration) -> list[Any]:
    return [
        *(getattr(one, name) for name in PLAIN),
        sorted(one.capabilities),
        sorted(one.safe_options),
        [[probe.kind, probe.values, probe.version, probe.timeout] for probe in one.probes],
        one.coverage.digest or coverage_digest(one.coverage),
        None if one.compiles is None else one.compiles.digest or coverage_digest(one.compiles),
    ]


def plain_digest(value: Any) -> str:
    """SHA-256 of plain data, as hexadecimal."""
    return sha256(dumps(value, separators=(",", ":")).encode("ascii")).hexdigest()
