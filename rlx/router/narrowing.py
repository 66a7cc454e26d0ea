"""The selection itself: masks first, then the facts of what is left, one backend at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlx.operations.policies import DEFAULT
from rlx.router import barriers, precision
from rlx.router.checks import disabled_by, disabled_mask, index_missing, places, preferred
from rlx.router.lowerings import Covering

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.program import Program, Requirements
    from rlx.registries import Registry
    from rlx.router.verdicts import Fact
    from rlx.settings import Request


@dataclass(frozen=True, slots=True)
class Pending:
    """`decide` needs one more fact: probe this backend at this index, then ask again."""

    backend: str
    index: int


def select(
    registry: Registry,
    needs: Requirements,
    program: Program | None,
    request: Request,
    facts: Mapping[tuple[str, int], Fact],
    used: dict[tuple[str, int], Fact],
) -> tuple[int, int | None, bool] | Pending | None:
    """The first backend without a reason against it, the place of its device spec, degraded."""
    degraded = False
    table = registry.coverage
    facets = table.facets
    if request.backend is None:
        fits = facets.implicit
    else:
        named = facets.index.get(request.backend)
        fits = 0 if named is None else facets.enabled & facets.dispatching & 1 << named
    if request.disabled:
        fits &= ~disabled_mask(registry, request)
    for name in request.require:
        fits &= facets.capabilities.get(name, 0)
    if needs.capabilities:
        if barriers.NATIVE in needs.capabilities:
            fits &= barriers.mask(registry, needs, program, request)
        for capability in registry.capabilities:
            if capability.id in needs.capabilities and capability.id != barriers.NATIVE:
                fits &= facets.capabilities.get(capability.id, 0)
    if request.precision is not None:
        told = precision.needed(registry, needs, request)
        if told is not None:
            fits &= facets.capabilities.get(told[0], 0)
    covering: Covering | None = None
    if fits:
        native = fits & table.covers(needs)
        settled = native == fits and request.kernel_dispatch == DEFAULT
        if program is None or settled or request.kernel_dispatch == "native":
            fits = native
        else:
            covering = Covering(registry, program, request, native)
    groups: list[tuple[int | None, int]] = (
        [(at, fits & facets.devices.get(spec.name, 0)) for at, spec in enumerate(request.devices)]
        if request.devices
        else [(None, fits)]
    )
    for at, group in groups:
        wanted = 0 if at is None else request.devices[at].index or 0
        if wanted:
            group &= facets.call_probed
        if at is None and request.backend is None:
            group &= ~facets.software
        ordered = preferred(registry, request, group) if covering is None else covering.order(group)
        for index in ordered:
            one = registry.registrations[index]
            key = (one.id, wanted)
            fact = facts.get(key)
            if covering is not None and not covering.natively(index):
                # What is known not to work here is not worth an expansion.
                if fact is not None and fact.reason is not None:
                    used[key] = fact
                    continue
                if not covering.covers(index):
                    continue
            if fact is None:
                if one.probes:
                    return Pending(*key)
                return index, at, degraded
            used[key] = fact
            if fact.reason is not None or (
                fact.software and at is None and request.backend is None
            ):
                continue
            if fact.open_failure is None:
                return index, at, degraded
            degraded = True
    return None


def gather(
    registry: Registry,
    request: Request,
    facts: Mapping[tuple[str, int], Fact],
    used: dict[tuple[str, int], Fact],
) -> Pending | None:
    """Collect the facts of every candidate; the first that is missing. Disabled ones need none."""
    for index, at in places(registry, request):
        one = registry.registrations[index]
        spec = None if at is None else request.devices[at]
        key = (one.id, (spec.index if spec else None) or 0)
        fact = facts.get(key)
        if fact is not None:
            used[key] = fact
        elif (
            one.probes
            and one.enabled
            and not index_missing(one, spec)
            and not disabled_by(registry, request, one)
        ):
            return Pending(*key)
    return None
