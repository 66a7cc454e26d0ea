"""`rlx env`: every setting, its value and its source, winners and losers."""

from __future__ import annotations

import click

from rlx.cli import options, output
from rlx.errors import printable


@click.command("env", short_help="Show every setting, its value and its source.")
@options.config
@options.as_json
def command(config: tuple[str, ...], as_json: bool, as_format: str) -> int:
    """Show every setting with the value in force, where it came from, and what it overrode."""
    from rlx import settings

    rows = settings.effective(options.registry(config))
    if as_json or as_format == "json":
        output.dump({"settings": [row.to_json() for row in rows]})
        return 0
    lines = [["setting", "value", "source"]]
    for row in rows:
        lost = "".join(f"; over {value} ({origin})" for value, origin in row.losers)
        lines.append([row.name, printable(row.value), printable(f"{row.source}{lost}")])
    output.text(output.columns(lines, indent=""))
    return 0
