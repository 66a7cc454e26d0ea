"""The rules of one registration, however it was made: from YAML, by an override, or in code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.freeze import names, probes
from rlx.freeze.faults import show
from rlx.freeze.nearest import later
from rlx.registration import LAST_RANK
from rlx.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rlx.freeze.draft import Draft
    from rlx.freeze.faults import Faults, Place
    from rlx.registration import Coverage


def check(
    draft: Draft, devices: Mapping[str, str], capabilities: Collection[str], faults: Faults
) -> None:
    """Every rule that needs no other registration; `devices` has ids and aliases."""
    one = draft.registration
    _identities(draft, faults)
    _device(draft, devices, faults)
    rank = one.rank
    if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank <= LAST_RANK:
        faults.add(
            "rank-range",
            draft.place("rank").at(),
            f"rank must be an integer from 0 to {LAST_RANK}, got {show(rank)}",
            "write a number, such as 10.",
        )
    for field in ("factory", "compiler", "materializer"):
        names.entry_point(field, getattr(one, field), draft.place(field).at(), faults)
    _facets(draft, faults)
    faults.twice("capabilities", one.capabilities, draft.place("capabilities"))
    faults.twice("safe_options", one.safe_options, draft.place("safe_options"))
    for index, capability in enumerate(one.capabilities):
        if capability not in capabilities:
            faults.add(
                "unknown-capability",
                draft.place("capabilities").at(index),
                f"unknown capability {show(capability)}",
                later(capability, capabilities, "declare it under capabilities."),
            )
    place = draft.place("probes")
    faults.twice("probes", [probes.text(probe) for probe in one.probes if probe.kind], place)
    for index, probe in enumerate(one.probes):
        probes.check(probe, place.below(index), faults)
    if draft.group >= 0 or "coverage" in draft.places:  # else its rows are the base's, unread yet
        _repeated("coverage", one.coverage, "listed-twice", draft.place("coverage"), faults)
    if one.compiles is not None:
        _repeated("compiles", one.compiles, "duplicate-facet", draft.place("compiles"), faults)


def _identities(draft: Draft, faults: Faults) -> None:
    one = draft.registration
    names.identity("a backend's id", one.id, draft.place("id").at(), faults)
    names.reserved("a backend's id", one.id, draft.place("id").at(), faults)
    if one.target != one.id:
        names.identity("target", one.target, draft.place("target").at(), faults)
    if one.payload_format is not None:
        names.identity(
            "payload_format", one.payload_format, draft.place("payload_format").at(), faults
        )


def _device(draft: Draft, devices: Mapping[str, str], faults: Faults) -> None:
    device = draft.registration.device
    canonical = devices.get(device)
    if canonical == device:
        return
    place = draft.place("device").at()
    if canonical is not None:
        fix = f"write {canonical}, the device's id."
        faults.add("unknown-device", place, f"device {device!r} is an alias", fix)
        return

    def meant() -> str:
        near = nearest(device, devices)
        if near is not None:
            return f"did you mean {devices[near]!r}?"
        known = ", ".join(sorted(set(devices.values())))
        return f"write one of: {known}; or declare it under devices."

    faults.add("unknown-device", place, f"unknown device {show(device)}", meant)


def _facets(draft: Draft, faults: Faults) -> None:
    one = draft.registration
    if (one.compiler is None) != (one.payload_format is None):
        has, lacks = (
            ("compiler", "payload_format")
            if one.payload_format is None
            else ("payload_format", "compiler")
        )
        faults.add(
            "payload-format",
            draft.place(has).at(),
            f"{has} is given without {lacks}",
            f"give {lacks} too, or leave both out.",
        )
    if one.compiles is not None and one.compiler is None:
        faults.add(
            "compiles-without-compiler",
            draft.place("compiles").at(),
            "compiles is given without a compiler",
            "name the compiler, or leave compiles out.",
        )
    if one.dispatches and one.factory is None:
        faults.add(
            "dispatches-without-factory",
            draft.place("dispatches").at(),
            f"{show(one.id)} dispatches, but has no factory that opens it",
            'add factory: "package.module:function", or delete dispatches.',
        )


def _repeated(what: str, coverage: Coverage, code: str, place: Place, faults: Faults) -> None:
    """No operation has the same claim in two rows; other rows of it are alternatives."""
    first: dict[object, int] = {}
    for index, row in enumerate(coverage.rows):
        for operation in row.operations:
            key = (operation, row.types, row.attributes, row.ndim)
            earlier = first.setdefault(key, index)
            if earlier != index:
                origin = coverage.rows[earlier].origin
                faults.add(
                    code,
                    row.origin if row.origin.path else place.at(),
                    f"{what} claims {operation} twice with the same conditions, first at {origin}",
                    "delete one of the two.",
                    origin,
                )
