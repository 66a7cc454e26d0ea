"""The picture of operations and backends, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlx.conformance.evidence import Evidence
from rlx.conformance.verdicts import FINDINGS, PASS, PROGRAMS, REFUSED
from rlx.errors import Unavailable

PANELS = 4
NOTHING, FAULT = (0.93, 0.93, 0.93), (0.80, 0.15, 0.15)
LEAST, MOST = (0.80, 0.90, 0.97), (0.03, 0.32, 0.61)
"""Light to dark: the share of an operation's trials that a backend claims and passes."""


def draw(found: Sequence[Evidence], path: Path) -> None:
    """Draw one column per backend and one row per operation, in panels.

    Raises:
        Unavailable: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError:
        raise Unavailable(
            "the picture is drawn with matplotlib, which is not installed",
            fix="pip install 'rlx[report]'.",
        ) from None
    mpl.use("Agg")
    from matplotlib import pyplot

    names = sorted({name for one in found for name in one.operations} - {PROGRAMS})
    height = -(-len(names) // PANELS)
    size = (PANELS * (2.2 + 0.22 * len(found)), 1.4 + 0.145 * height)
    figure, panels = pyplot.subplots(1, PANELS, figsize=size, layout="constrained")
    for number, panel in enumerate(panels):
        mine = names[number * height : (number + 1) * height]
        cells = [[colour(one.operations.get(name)) for one in found] for name in mine]
        _panel(panel, mine, [one.backend for one in found], cells)
    figure.suptitle(
        "Share of an operation's trials that a backend claims and passes "
        "(grey: none; red: a claim that does not hold, or is missing)",
        fontsize=9,
    )
    figure.savefig(path, dpi=130, metadata={"Software": None})
    pyplot.close(figure)


def _panel(panel: Any, names: Sequence[str], backends: Sequence[str], cells: Any) -> None:
    if cells:
        panel.imshow(cells, aspect="auto", interpolation="nearest")
    panel.set_xticks(range(len(backends)), backends, rotation=90, fontsize=7)
    panel.xaxis.tick_top()
    panel.set_yticks(range(len(names)), names, fontsize=6)
    panel.set_xticks([place - 0.5 for place in range(1, len(backends))], minor=True)
    panel.set_yticks([place - 0.5 for place in range(1, len(names))], minor=True)
    panel.grid(which="minor", color="white", linewidth=0.6)
    panel.tick_params(which="both", length=0)
    for side in panel.spines.values():
        side.set_visible(False)


def colour(counts: Mapping[str, Any] | None) -> tuple[float, float, float]:
    """The colour of one operation on one backend, as red, green and blue from 0 to 1."""
    if counts is None:
        return NOTHING
    if any(counts.get(verdict) for verdict in FINDINGS):
        return FAULT
    passed, refused = int(counts.get(PASS, 0)), int(counts.get(REFUSED, 0))
    if not passed:
        return NOTHING
    share = passed / (passed + refused)
    red, green, blue = (a + (b - a) * share for a, b in zip(LEAST, MOST, strict=True))
    return red, green, blue
