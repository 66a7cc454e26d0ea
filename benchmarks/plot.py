"""The plot of the figures against their bars."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

from benchmarks.results import HERE, load

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "rlx"

import matplotlib.pyplot as plt  # noqa: E402 - after the choice of a drawer without a screen


def draw(document: dict[str, Any]) -> None:
    """Each figure as a share of its bar (less is better), and the networks side by side."""
    figures = [one for group in document["figures"].values() for one in group]
    rows = document["details"]["networks"]["seconds_by_network"]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(13, 8), width_ratios=[3, 2], layout="constrained"
    )
    shares = [
        one["value"] / one["bar"] if one["better"] == "less" else one["bar"] / one["value"]
        for one in figures
    ]
    left.barh([one["name"] for one in figures], shares, color="#4878a8")
    left.axvline(1, color="#b04040", label="the bar")
    left.set_xscale("log")
    left.invert_yaxis()
    left.set_xlabel("measured / bar (left of the line: the bar is met)")
    left.legend()
    left.tick_params(axis="y", labelsize=8)
    for i, (engine, colour) in enumerate(
        (("reference", "#b0b0b0"), ("numpy", "#4878a8"), ("onnxruntime", "#70a060"))
    ):
        places = [y + 0.27 * (i - 1) for y in range(len(rows))]
        label = {"reference": "onnx reference", "numpy": "rlx, numpy backend"}.get(engine, engine)
        right.barh(
            places,
            [row.get(engine, 0.0) * 1e3 for row in rows.values()],  # no bar: it gave no answer
            0.25,
            color=colour,
            label=label,
        )
    right.set_yticks(range(len(rows)), list(rows), fontsize=8)
    right.set_xscale("log")
    right.invert_yaxis()
    right.set_xlabel("ms per run, one thread, random weights")
    right.legend()
    figure.savefig(HERE / "results.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(load())
