"""A route as text: what was chosen and why, then every other candidate, one reason a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.coverage.facets import bits
from rlx.errors import NoBackend, printable
from rlx.program.types import BARRIER
from rlx.registration import LAST_RANK
from rlx.router.barriers import NATIVE
from rlx.router.checks import disabled_mask

if TYPE_CHECKING:
    from rlx.registration import Registration
    from rlx.router import Route
    from rlx.router.verdicts import Candidate, Reason

_WITH_MORE = ("capability", "coverage", "unavailable", "software-device")
"""Where one of these comes first, the reasons after it are shown too: they also need a fix."""
_GAP = "   "
SHOWN = 4
"""Operations that are named where they are lowered."""
_ALIGNED = 60
"""What a fix is told beside: a longer reason does not push the others' fixes aside."""


def explain(route: Route) -> str:
    """The whole decision."""
    others = [one for one in route.candidates if one.verdict != "selected"]
    if route.backend is not None:
        head, why, more = chosen(route)
        return "\n".join([f"{head}: {', '.join(why)}", *more, *_table(others, route)])
    head, *tail = refused(route)
    return "\n".join([head, *_table(others, route), *tail])


def error(route: Route) -> NoBackend:
    """The error for a route that selected nothing."""
    lines = refused(route)
    fix = lines[-1].partition("Fix: ")[2] if len(lines) > 1 else None
    return NoBackend(explain(route), fix=fix, route=route)


def rank_text(one: Registration) -> str:
    """A rank and its places: `rank 5 (a.yaml:7:26; was 100, packaged backends.yaml:41:11)`."""
    settings = one.settings("rank")
    if not settings:
        return f"rank {one.rank}" + (" (the default)" if one.rank == LAST_RANK else "")
    was = "".join(f"; was {old.value}, {old.origin}" for old in reversed(settings[:-1]))
    return printable(f"rank {one.rank} ({settings[-1].origin}{was})")


def program_text(route: Route) -> str:
    """`mlp (3 nodes)`, or `the program (3 nodes)` where only requirements were routed."""
    count = sum(route.question.requirements.counts)
    name = printable(route.program.name) if route.program is not None else ""
    return f"{name or 'the program'} ({count} {'node' if count == 1 else 'nodes'})"


def chosen(route: Route) -> tuple[str, list[str], list[str]]:
    """What was chosen; why; and a line each on what is lowered and cut, where something is."""
    assert route.backend is not None
    one = route.question.registry.get(route.backend)
    assert one is not None
    request = route.request
    why = []
    if request.backend is not None:
        why.append(f"named by {request.source}")
    if request.devices:
        asked = ",".join(map(str, request.devices))
        why.append(f"{asked} was asked for by {request.source}{_passed_over(route)}")
    if one.id in request.precedence:
        why.append("put first by RLX_PRECEDENCE")
    why.append(rank_text(one))
    fact = route.question.facts.get((one.id, (route.device and route.device.index) or 0))
    if one.software or (fact is not None and fact.software):
        why.append("a software device: a CPU emulates it")
    if one.coverage.evidence != "measured":
        origin = f" from {one.coverage.inherited_from}" if one.coverage.inherited_from else ""
        why.append(f"coverage {one.coverage.evidence}{origin}, not measured here")
    if route.degraded:
        failed = {fact.compiling for fact in route.question.facts.values() if fact.open_failure}
        did = " or ".join("compile it" if late else "open" for late in sorted(failed))
        why.append(f"degraded: an earlier choice failed to {did}")
    head = f"{program_text(route)} runs on {one.id} ({route.device})"
    return printable(head), list(map(printable, why)), [*_lowered(route), *_staged(route)]


def _lowered(route: Route) -> list[str]:
    """What is lowered, in a line; none where every node is native."""
    if route.program is None or not route.lowers:
        return []
    report = route.dispatch_report
    paths = [one for one in report.operations if one[0] == "lowered" and one[1] != BARRIER]
    count = sum(one[2] for one in paths)
    total = sum(count for _, count in report.executed)
    names = [f"{name} {nodes}" for _, name, nodes in paths]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    nodes = "1 node is" if count == 1 else f"{count} nodes are"
    line = f"{nodes} lowered ({', '.join(names[:SHOWN])}{more}): {total} are run"
    return [printable(f"  {line}; `rlx explain --nodes` shows which")]


def _staged(route: Route) -> list[str]:
    """That the program is cut at its barriers, in a line; none where it is not."""
    if route.program is None or NATIVE not in route.program.requirements.capabilities:
        return []
    stages = route.dispatch_report.stages
    return [f"  it is cut at its barriers and runs in {stages} stages"] if stages > 1 else []


def _passed_over(route: Route) -> str:
    """The devices before the chosen one that have no candidate to speak for them."""
    assert route.device is not None
    names = [spec.name for spec in route.request.devices]
    served = {one.device.partition(":")[0] for one in route.candidates}
    before = names[: names.index(route.device.name)]
    unserved = [name for name in dict.fromkeys(before) if name not in served]
    return f" (no backend is registered for {' or '.join(unserved)})" if unserved else ""


def refused(route: Route) -> list[str]:
    """The headline, and the lines that follow the table."""
    request = route.request
    wanted = " or ".join(map(str, request.devices))
    on = f" on {wanted}" if wanted else ""
    nothing = route.program is None and not route.question.requirements.counts
    task = "be used" if nothing else f"run {program_text(route)}"
    if request.backend is not None:
        head = f"{printable(request.backend)} cannot {task}{on}"
    else:
        head = f"no backend can {task}{on}"
    unserved = _unserved(route)
    if unserved:
        return [f"{head}: no enabled backend serves {wanted}", unserved]
    oracles = [
        one.backend
        for one in route.candidates
        if one.reasons and [reason.code for reason in one.reasons] == ["oracle"]
    ]
    if oracles:
        return [
            f"{head}: only the reference oracle is left, and it is never chosen implicitly",
            f"Fix: follow a fix listed above, or name the oracle: RLX_BACKEND={oracles[0]}.",
        ]
    return [head]


def _unserved(route: Route) -> str | None:
    """What to do where no enabled backend serves any device asked for; None: one does."""
    registry, devices = route.question.registry, route.request.devices
    facets = registry.coverage.facets
    on = 0
    for spec in devices:
        on |= facets.devices.get(spec.name, 0)
    if not devices or on & facets.enabled & ~disabled_mask(registry, route.request):
        return None
    if on:
        ids = ", ".join(registry.registrations[i].id for i in bits(on))
        return f"Fix: enable one that does ({ids}), or ask for another device."
    return (
        f"Fix: register a backend with `device: {devices[0].name}` in a manifest (`rlx init` "
        "writes a starter with an example), or ask for another device (`rlx devices` lists them)."
    )


def _table(candidates: list[Candidate], route: Route) -> list[str]:
    rows: list[tuple[str, str, str, Reason | None]] = []
    twice = len({one.backend for one in candidates}) < len(candidates)
    for one in candidates:
        label = f"{one.backend} ({one.device})" if twice and ":" in one.device else one.backend
        if not one.reasons:
            registration = route.question.registry.get(one.backend)
            assert registration is not None
            nothing = "nothing against it, " if route.question.complete else ""
            rows.append((label, one.verdict, nothing + rank_text(registration), None))
        for reason in one.reasons[: None if needs_all(one) else 1]:
            rows.append((label, reason.code, reason.detail, reason))
            label = ""
    ids = max((len(label) for label, *_ in rows), default=0)
    codes = max((len(code) for _, code, *_ in rows), default=0)
    told = (len(detail) for _, _, detail, cause in rows if cause and cause.fix)
    details = min(max(told, default=0), _ALIGNED)
    lines = []
    for label, code, detail, cause in rows:
        fix = cause.fix if cause else None
        source = cause.source if cause else None
        text = f"  {label:<{ids}}  {code:<{codes}} "
        text += f"{detail:<{details}}{_GAP}Fix: {printable(fix)}" if fix else detail
        if source is not None and str(source) and str(source) not in detail:
            text += f"{_GAP}({printable(str(source))})"
        lines.append(text)
    return lines


def needs_all(one: Candidate) -> bool:
    """True where the reasons after the first are told too."""
    return bool(one.reasons) and one.reasons[0].code in _WITH_MORE
