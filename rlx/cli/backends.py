"""`rlx backends`: the registry in order of precedence, and where each value came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rlx.cli import options, output, plugins
from rlx.errors import UnknownBackend, printable
from rlx.settings.placement import inactive_plugins

if TYPE_CHECKING:
    from rlx.registration import Registration, Setting
    from rlx.registries import Registry


@click.command("backends", short_help="List the registry in order of precedence.")
@click.option("--why", metavar="ID", help="Show every value of one backend and where it came from.")
@options.config
@options.as_json
def command(why: str | None, config: tuple[str, ...], as_json: bool, as_format: str) -> int:
    """List the registered backends in the order in which they are tried.

    \b
    rlx backends
    rlx backends --why numpy
    """
    registry = options.registry(config)
    shown = registry.registrations if why is None else (_find(registry, why),)
    if as_json or as_format == "json":
        output.dump(
            {
                "digest": registry.digest,
                "backends": [to_json(one) for one in shown],
                "warnings": [output.fault_json(fault) for fault in registry.warnings],
                "plugins": plugins.to_json(plugins.states(registry)),
            }
        )
    elif why is None:
        output.text(table(registry))
    else:
        output.text(provenance(shown[0]))
    return 0


def _find(registry: Registry, backend: str) -> Registration:
    found = registry.get(backend)
    if found is None:
        raise UnknownBackend(
            f"no backend {printable(backend)!r} is registered{inactive_plugins(registry)}",
            fix=f"choose one of: {plugins.others(backend, registry)}.",
        )
    return found


def table(registry: Registry) -> list[str]:
    """One line per backend, in order, then the plugins that take no part, and the warnings."""
    rows = [["rank", "backend", "device", "state", "evidence", "rank set at"]]
    for one in registry.registrations:
        rows.append(
            [
                str(one.rank),
                one.id,
                one.device,
                state(one),
                evidence(one),
                printable(str(one.source("rank"))),
            ]
        )
    warnings = (f"warning: {fault}" for fault in registry.warnings)
    inactive = plugins.lines(plugins.states(registry))
    return [*output.columns(rows, indent=""), *inactive, *warnings]


def state(one: Registration) -> str:
    """In one word, whether routing may choose it."""
    if not one.enabled:
        return "disabled"
    if one.reference_oracle:
        return "oracle"
    return "enabled" if one.dispatches else "emission-only"


def evidence(one: Registration) -> str:
    """How many operations are claimed, and why that is believed."""
    names = {name for row in one.coverage.rows for name in row.operations}
    origin = f" from {one.coverage.inherited_from}" if one.coverage.inherited_from else ""
    return f"{len(names)} operations, {one.coverage.evidence}{origin}"


def history(values: tuple[Setting, ...]) -> str:
    """`5 (backends.yaml:7:26; was 100, packaged backends.yaml:41:11)`."""
    now, earlier = values[-1], values[:-1]
    was = "".join(f"; was {show(one.value)}, {one.origin}" for one in reversed(earlier))
    return printable(f"{show(now.value)} ({now.origin}{was})")


def show(value: Any) -> str:
    """A value as YAML would have it on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return "[" + ", ".join(show(one) for one in value) + "]"
    return str(value)


def provenance(one: Registration) -> list[str]:
    """Every field of a registration with its value and its places."""
    lines = [f"{one.id}  ({printable(str(one.origin))})"]
    rows = [[printable(name), history(values)] for name, values in one.history]
    return [*lines, *output.columns([*rows, ["evidence", evidence(one)]])]


def to_json(one: Registration) -> dict[str, Any]:
    """One registration, as `--json` prints it."""
    return {
        "id": one.id,
        "device": one.device,
        "target": one.target,
        "rank": one.rank,
        "state": state(one),
        "dispatches": one.dispatches,
        "reference_oracle": one.reference_oracle,
        "software": one.software,
        "enabled": one.enabled,
        "factory": one.factory,
        "install": one.install,
        "capabilities": list(one.capabilities),
        "options": {key: _plain(value) for key, value in one.options},
        "coverage": {
            "evidence": one.coverage.evidence,
            "inherited_from": one.coverage.inherited_from,
            "engine": one.coverage.engine,
            "platform": one.coverage.platform,
            "operations": sorted({name for row in one.coverage.rows for name in row.operations}),
        },
        "source": str(one.origin),
        "history": {
            name: [{"value": _plain(v.value), "source": str(v.origin)} for v in values]
            for name, values in one.history
        },
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
