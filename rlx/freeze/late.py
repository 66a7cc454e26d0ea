"""A registration made in code: checked by the rules that YAML is checked by, then merged."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from rlx.errors import ConfigError, DuplicateBackend
from rlx.freeze import across, claims, fields, rules
from rlx.freeze.declared import Declared
from rlx.freeze.digest import coverage_digest, digest
from rlx.freeze.draft import Draft
from rlx.freeze.faults import Faults, Spot, show
from rlx.origin import Origin
from rlx.registration import Coverage, Probe, Registration, Row, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rlx.freeze.content import Content
    from rlx.operations import Vocabulary

ELSEWHERE = ("rank", "origin", "history")
"""The rule of ranks judges the rank; origin and history are made anew."""
EVIDENCE = ("measured", "inherited", "declared")
FIELDS = ("device", "target", "rank", "dispatches", "reference_oracle", "software", "enabled",
          "factory", "install", "payload_format", "compiler", "materializer")  # fmt: skip


def with_registration(
    content: Content,
    registration: Registration,
    replace: bool,
    vocabulary: Callable[[], Vocabulary],
) -> Content:
    """The content with one more registration, or with another one in its place.

    Raises:
        DuplicateBackend: the id is taken, and `replace` is False.
        ConfigError: the registration breaks a rule.
    """
    faults = Faults()
    spot = Spot(Origin(f"registration of {show(registration.id)}", layer="code"))
    _shape(registration, spot, faults)
    if faults.found:
        raise ConfigError(faults.in_order([]))
    others = {one.id: one for one in content.registrations}
    earlier = others.pop(registration.id, None)
    if earlier is not None and not replace:
        raise DuplicateBackend(
            f"backend {registration.id!r} is already registered, at {earlier.origin}"
        )
    made = _frozen(registration, earlier, spot, vocabulary, faults)
    declared = Declared.of(content)
    drafts = {one.id: Draft(one, -1, {}) for one in others.values()}
    places = {field.name: spot for field in dataclasses.fields(Registration)}
    drafts[made.id] = Draft(made, 0, places)
    rules.check(drafts[made.id], declared.names(), declared.ids(), faults)
    across.check(drafts, faults)
    if faults.found:
        raise ConfigError(faults.in_order([]))
    ordered = tuple(sorted((*others.values(), made), key=lambda one: (one.rank, one.id)))
    merged = dataclasses.replace(
        content, registrations=ordered, warnings=across.equal_ranks(ordered)
    )
    return dataclasses.replace(merged, digest=digest(merged))


def _shape(registration: Registration, spot: Spot, faults: Faults) -> None:
    """Every field has its type, and nothing of it can change."""
    for name, hint in fields.hints(Registration).items():
        if name in ELSEWHERE:
            continue
        value = getattr(registration, name)
        misfits = tuple(fields.misfits(name, value, hint))
        for place, wanted, got in misfits:
            faults.add(
                "field-type",
                spot.at(),
                f"{place} must be {wanted}, got {show(got)}",
                "give a value of that type.",
            )
        if not misfits and not _immutable(value):
            faults.add(
                "mutable-value",
                spot.at(),
                f"{name} holds a value that can change: {value!r}",
                "use tuples, scalars and rlx's frozen records.",
            )


def _frozen(
    registration: Registration,
    earlier: Registration | None,
    spot: Spot,
    vocabulary: Callable[[], Vocabulary],
    faults: Faults,
) -> Registration:
    """The registration with canonical claims, and a history that says what code has set."""
    faults.twice("options", [key for key, _ in registration.options], spot)
    coverage = _claims(registration.coverage, spot, vocabulary, faults)
    compiles = registration.compiles
    return dataclasses.replace(
        registration,
        options=tuple(sorted(registration.options)),
        coverage=coverage,
        compiles=None if compiles is None else _claims(compiles, spot, vocabulary, faults),
        origin=spot.at(),
        history=tuple(_history(registration, earlier, spot.at())),
    )


def _history(
    made: Registration, earlier: Registration | None, origin: Origin
) -> Iterator[tuple[str, tuple[Setting, ...]]]:
    """Per field that is not the default: what it was, and that code set it where it changed."""
    defaults = Registration(made.id, "", made.id)
    before = defaults if earlier is None else earlier
    fields = {name: getattr(made, name) for name in FIELDS}
    old = {name: getattr(before, name) for name in FIELDS}
    options = {f"options.{key}": value for key, value in made.options}
    old |= {f"options.{key}": value for key, value in before.options}
    for name, value in {**fields, **options}.items():
        settings = () if earlier is None else earlier.settings(name)
        if value != old.get(name, made):
            settings = (*settings, Setting(value, origin))
        if settings:
            yield name, settings


def _claims(
    coverage: Coverage, spot: Spot, vocabulary: Callable[[], Vocabulary], faults: Faults
) -> Coverage:
    rows = tuple(
        claims.row(
            row.operations,
            dict(row.types),
            dict(row.attributes),
            row.ndim,
            Spot(row.origin) if row.origin.path else spot,
            vocabulary(),
            faults,
        )
        for row in coverage.rows
    )
    inherits = coverage.evidence == "inherited"
    if coverage.evidence not in EVIDENCE or inherits != (coverage.inherited_from is not None):
        parent = show(coverage.inherited_from)
        faults.add(
            "evidence",
            spot.at(),
            f"evidence is {show(coverage.evidence)}, inherited_from is {parent}",
            f"write one of {', '.join(EVIDENCE)}; a backend belongs to inherited, and only there.",
        )
    made = dataclasses.replace(coverage, rows=rows)
    return dataclasses.replace(made, digest=coverage_digest(made))


def _immutable(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_immutable, value))
    if isinstance(value, (Coverage, Row, Probe, Origin)):
        return all(_immutable(getattr(value, field.name)) for field in dataclasses.fields(value))
    return value is None or isinstance(value, str | int | float | bool)
