"""`rlx devices`: what can run here, and why the rest can't."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rlx.cli import options, output
from rlx.cli.facts import fact_json
from rlx.cli.hosts import host_json, host_text, live_json, live_text
from rlx.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.registration import Registration
    from rlx.registries import Registry
    from rlx.router import Fact
    from rlx.session.live import Live

Facts = list[tuple["Registration", "Fact"]]


@click.command("devices", short_help="Say what can run here, and why the rest can't.")
@click.option("--live", is_flag=True, help="Run a tiny program on each backend that is available.")
@click.option("--refresh", is_flag=True, help="Forget earlier results, also on disk; probe again.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="With --live: how long one backend may take.",
)
@options.config
@options.as_json
def command(
    live: bool,
    refresh: bool,
    timeout: float,
    config: tuple[str, ...],
    as_json: bool,
    as_format: str,
) -> int:
    """Probe every backend, and list every device with what can use it here.

    \b
    rlx devices
    rlx devices --live                     opens each, runs a program, and checks the answer
    rlx devices --live --refresh           also where that went well before
    rlx devices --json > facts.json        for `rlx explain --facts` on another machine

    What probes find is kept on disk while nothing changes that it may depend on. With --live, a
    backend that is listed as available and fails is reported as unavailable.
    """
    from rlx import probe
    from rlx.probe.host import host

    registry = options.registry(config)
    if refresh:
        probe.refresh()
    known = {one.id: one for one in registry.devices}
    found = probe.facts_for(registry.registrations, 0, known)
    facts: Facts = [(one, found[one.id, 0]) for one in registry.registrations]
    went = _run(registry, facts, config, timeout) if live else {}
    facts = [(one, _judged(fact, went.get(one.id))) for one, fact in facts]
    if as_json or as_format == "json":
        output.dump({"host": host_json(host()), **to_json(registry, facts, went)})
    else:
        output.text([*host_text(host()), "", *table(registry, facts, went)])
    return 0


def _run(
    registry: Registry, facts: Facts, config: tuple[str, ...], timeout: float
) -> Mapping[str, Live]:
    """How a tiny program goes on what is available and runs programs."""
    from rlx.cli.progress import bar
    from rlx.session import live

    usable = [one for one, fact in facts if one.enabled and one.dispatches and fact.reason is None]
    with bar() as report:
        return live.run(registry, usable, config, timeout=timeout, report=report)


def _judged(fact: Fact, went: Live | None) -> Fact:
    """The fact, unless a live run knows better."""
    if went is None or went.reason is None:
        return fact
    fix = went.fix or "see the reason; `rlx devices --live` tries it again."
    return replace(fact, reason=f"a tiny program fails on it: {went.reason}", fix=fix)


def table(registry: Registry, facts: Facts, went: Mapping[str, Live]) -> list[str]:
    """One line per device and backend: can it run here, and if not, why and what to do."""
    rows = [["device", "backend", "here", "why"]]
    for device in registry.devices:
        mine = [(one, fact) for one, fact in facts if one.enabled and one.device == device.id]
        aliases = f" ({', '.join(device.aliases)})" if device.aliases else ""
        for one, fact in mine:
            rows.append([device.id + aliases, one.id, *_verdict(fact, went.get(one.id))])
        if not mine:
            rows.append([device.id + aliases, "-", "no", "no backend is registered for it"])
    return output.columns(rows, indent="")


def _verdict(fact: Fact, went: Live | None) -> tuple[str, str]:
    if fact.reason is not None:
        fix = f". Fix: {fact.fix}" if fact.fix else ""
        return "no", printable(f"{fact.reason.rstrip('.')}{fix}")
    ran = [live_text(went)] if went is not None else []
    if fact.software:
        detail = fact.detail or "a CPU emulates this device"
        return "software", printable("; ".join([detail, *ran]))
    return "yes", printable("; ".join([*filter(None, [fact.detail]), *ran]))


def to_json(registry: Registry, facts: Facts, went: Mapping[str, Live]) -> dict[str, Any]:
    """The facts file."""
    return {
        "devices": [
            {"id": one.id, "name": one.name, "aliases": list(one.aliases)}
            for one in registry.devices
        ],
        "facts": [
            {**fact_json(one.id, one.device, 0, fact), "live": live_json(went.get(one.id))}
            for one, fact in facts
        ],
    }
