"""Frozen records of the registry: registrations, coverage rows, probes; no YAML, no pydantic."""

from __future__ import annotations

from dataclasses import dataclass, field

from rlx.origin import Origin

TYPE_CHECKING = False  # as in typing, whose import the light path does without
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    OptionValue = Any
    """A scalar, or a tuple of option values."""

LAST_RANK = 4294967295
Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Row:
    """One group of claims: each of `operations`, at each of these types, attributes and ndims.

    `types` has one entry per type variable that the schema leaves open; `attributes` only those
    that are limited, each with its allowed values (tuples for lists; None: omitted, no default).
    `ndim` is an inclusive (min, max) bound on every tensor input; max None is unbounded.
    """

    operations: tuple[str, ...]
    types: tuple[tuple[str, tuple[str, ...]], ...] = ()
    attributes: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    ndim: tuple[int, int | None] | None = None
    origin: Origin = field(default=Origin(""), compare=False)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a backend claims, and why it is believed."""

    rows: tuple[Row, ...] = ()
    evidence: str = "declared"
    """`measured`, `inherited` or `declared`."""
    inherited_from: str | None = None
    engine: str | None = None
    """The engine's name and version that the evidence was taken with."""
    platform: str | None = None
    digest: str = field(default="", compare=False, repr=False)
    """SHA-256 of the claims; freezing sets it."""


class Later:
    """Rows that are made when they are first read: `make` gives them, each time the same."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], tuple[Row, ...]]):
        self.make = make


class _MadeWhenRead:
    """The slot of `Coverage.rows`: whoever reads it gets a tuple, whatever was put there."""

    def __init__(self, slot: Any):
        self.slot = slot

    def __get__(self, coverage: Coverage | None, owner: type | None = None) -> Any:
        if coverage is None:
            return self.slot
        value = self.slot.__get__(coverage)
        if type(value) is Later:
            value = value.make()
            self.slot.__set__(coverage, value)
        return value

    def __set__(self, coverage: Coverage, value: Any) -> None:
        self.slot.__set__(coverage, value)


Coverage.rows = _MadeWhenRead(Coverage.rows)  # type: ignore[assignment,misc]


@dataclass(frozen=True, slots=True)
class Probe:
    """One check that a backend can work here; exactly one of the kinds.

    `kind` is `platform`, `module`, `library`, `path` or `call`; `values` are the platforms, or
    the one name, path or `module:attribute`.
    """

    kind: str
    values: tuple[str, ...]
    version: str | None = None
    """A PEP 440 specifier set, for `module`."""
    timeout: float = 10.0
    """Seconds, for `call`."""
    origin: Origin = field(default=Origin(""), compare=False)
    trusted: bool = field(default=True, compare=False)
    """False: the layer is not trusted, so `call` and `library` may not run."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One value that a field had in one layer, and where it was written."""

    value: Any
    origin: Origin


@dataclass(frozen=True, slots=True)
class Registration:
    """The frozen record of one backend."""

    id: str
    device: str
    target: str
    rank: int = LAST_RANK
    dispatches: bool = False
    reference_oracle: bool = False
    software: bool = False
    """True when a CPU always emulates this backend's device (a probe may find so as well)."""
    enabled: bool = True
    factory: str | None = None
    install: str | None = None
    """What to do where the engine is missing: the fix of `unavailable`."""
    probes: tuple[Probe, ...] = ()
    capabilities: tuple[str, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    payload_format: str | None = None
    compiler: str | None = None
    compiles: Coverage | None = None
    materializer: str | None = None
    options: tuple[tuple[str, OptionValue], ...] = ()
    """Sorted by key."""
    safe_options: tuple[str, ...] = ()
    """The options that an untrusted project file may set."""
    origin: Origin = field(default=Origin(""), compare=False)
    history: tuple[tuple[str, tuple[Setting, ...]], ...] = field(default=(), compare=False)
    """Per field that a layer wrote, oldest first: the last entry is in force."""

    def settings(self, name: str) -> tuple[Setting, ...]:
        """Every value that the field `name` was given, oldest first; empty: the default holds."""
        for key, values in self.history:
            if key == name:
                return values
        return ()

    def source(self, name: str) -> Origin:
        """The place of the field's value in force, else the registration's own place."""
        values = self.settings(name)
        return values[-1].origin if values else self.origin
