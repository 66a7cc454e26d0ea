"""From a request to an opened backend: runs the probes that the selector asks for, and opens."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from rlx import probe
from rlx.errors import ContractError, ExecutionError, OpenFailed, RlxError, UnsupportedFeature
from rlx.registration import Registration
from rlx.router import NO_FACT, Fact, Pending, Route, decide
from rlx.session import leases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.program import Program, Requirements
    from rlx.registries import Registry
    from rlx.settings import Request

_log = logging.getLogger("rlx")
T = TypeVar("T")
CANT_COMPILE = (ExecutionError, UnsupportedFeature)
"""What a backend raises that claims a program, and can't compile it after all."""
Answer = Callable[[Registration, int], Fact]
"""What answers the selector when it needs a fact of a backend at a device index."""


def settle(
    registry: Registry,
    program: Program | Requirements,
    request: Request,
    *,
    known: Mapping[tuple[str, int], Fact] | None = None,
    answer: Answer | None = None,
    evaluate_all: bool = False,
) -> Route:
    """The decision; facts that it needs and that are not `known` are asked for, one by one.

    Where no `answer` is given, the probes are run.
    """
    facts = dict(known or {})
    while True:
        found = decide(registry, program, request, facts, evaluate_all=evaluate_all)
        if not isinstance(found, Pending):
            return found
        one = registry.get(found.backend)
        assert one is not None, "the selector asks about registered backends only"
        if answer is None:
            facts[found.backend, found.index] = probed(registry, one, found.index)
        else:
            facts[found.backend, found.index] = answer(one, found.index)


def probed(registry: Registry, one: Registration, index: int) -> Fact:
    """What the probes of one of the registry's backends say at a device index."""
    device = next((each for each in registry.devices if each.id == one.device), None)
    return probe.probe(one, index, device)


def open_best(
    registry: Registry, program: Program | Requirements, request: Request
) -> tuple[Route, leases.Lease]:
    """Open the backend that the selector chooses, as `use_best` does, and use it for nothing."""
    route, lease, _ = use_best(registry, program, request, lambda *_: None)
    return route, lease


def use_best(
    registry: Registry,
    program: Program | Requirements,
    request: Request,
    use: Callable[[Route, leases.Lease], T],
) -> tuple[Route, leases.Lease, T]:
    """Open the backend that the selector chooses, and compile; where that fails, the next one.

    `use` compiles; what it raises for another reason than that the backend can't is raised.

    A backend that is asked for by id is never replaced. Where only devices are asked for, the
    choice among their backends is implicit, and stays on these devices. A failure to open is a
    fact of this question alone: the next question tries again.

    Raises:
        NoBackend: none is left; the message has every candidate's reasons.
        OpenFailed, ContractError: the backend that was asked for by id can't be opened.
        ExecutionError, UnsupportedFeature: the last one that could be opened can't compile.
    """
    failures: list[RlxError] = []
    facts: dict[tuple[str, int], Fact] = {}
    while True:
        route = settle(registry, program, request, known=facts)
        one = None if route.backend is None else registry.get(route.backend)
        if one is None or route.device is None:
            for failure in failures:
                if isinstance(failure, CANT_COMPILE):
                    raise failure
            raise route.error() from (failures[0] if failures else None)
        key = (one.id, route.device.index or 0)
        known = route.question.facts.get(key, NO_FACT)
        try:
            lease = leases.acquire(one, route.device)
        except (OpenFailed, ContractError) as error:
            if request.backend is not None:
                raise
            failures.append(error)
            facts[key] = _failed(known, error, " failed: ")
            continue
        try:
            used = use(route, lease)
        except CANT_COMPILE as error:
            lease.close()
            if request.backend is not None:
                raise
            failures.append(error)
            facts[key] = replace(_failed(known, error, ": "), compiling=True)
            continue
        except BaseException:
            lease.close()
            raise
        for failure in failures:
            place = f"{one.id} on {route.device}"
            _log.warning("%s. Using %s in its place. Fix: %s", failure.message, place, failure.fix)
        return route, lease, used


def _failed(known: Fact, error: RlxError, after: str) -> Fact:
    """What is known now; the candidate's line says already what failed: the cause is enough."""
    cause = error.message.partition(after)[2] or error.message
    fix = error.fix if error.fix != type(error).fix else known.fix
    return replace(known, open_failure=cause, fix=fix)
