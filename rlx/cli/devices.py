"""`rlx devices`: what can run here, and why the rest can't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rlx.cli import options, output
from rlx.cli.facts import fact_json
from rlx.errors import printable

if TYPE_CHECKING:
    from rlx.registration import Registration
    from rlx.registries import Registry
    from rlx.router import Fact


@click.command("devices", short_help="Say what can run here, and why the rest can't.")
@click.option("--refresh", is_flag=True, help="Forget earlier probe results and probe again.")
@options.config
@options.as_json
def command(refresh: bool, config: tuple[str, ...], as_json: bool, as_format: str) -> int:
    """Probe every backend, and list every device with what can use it here.

    \b
    rlx devices
    rlx devices --json > facts.json        for `rlx explain --facts` on another machine
    """
    from rlx import probe

    registry = options.registry(config)
    if refresh:
        probe.refresh()
    facts = [(one, probe.probe(one, 0)) for one in registry.registrations]
    if as_json or as_format == "json":
        output.dump(to_json(registry, facts))
    else:
        output.text(table(registry, facts))
    return 0


def table(registry: Registry, facts: list[tuple[Registration, Fact]]) -> list[str]:
    """One line per device and backend: can it run here, and if not, why and what to do."""
    rows = [["device", "backend", "here", "why"]]
    for device in registry.devices:
        mine = [(one, fact) for one, fact in facts if one.enabled and one.device == device.id]
        aliases = f" ({', '.join(device.aliases)})" if device.aliases else ""
        for one, fact in mine:
            rows.append([device.id + aliases, one.id, *_verdict(fact)])
        if not mine:
            rows.append([device.id + aliases, "-", "no", "no backend is registered for it"])
    return output.columns(rows, indent="")


def _verdict(fact: Fact) -> tuple[str, str]:
    if fact.reason is not None:
        fix = f". Fix: {fact.fix}" if fact.fix else ""
        return "no", printable(f"{fact.reason}{fix}")
    if fact.software:
        return "software", printable(fact.detail or "a CPU emulates this device")
    return "yes", printable(fact.detail)


def to_json(registry: Registry, facts: list[tuple[Registration, Fact]]) -> dict[str, Any]:
    """The facts file."""
    return {
        "devices": [
            {"id": one.id, "name": one.name, "aliases": list(one.aliases)}
            for one in registry.devices
        ],
        "facts": [fact_json(one.id, one.device, 0, fact) for one, fact in facts],
    }
