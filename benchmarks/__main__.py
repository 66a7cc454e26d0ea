"""`python -m benchmarks`: measure everything, one thread, and write the results and the plot."""

from __future__ import annotations

import os
import sys

SINGLE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> None:
    if any(os.environ.get(name) != value for name, value in SINGLE.items()):
        # The libraries read these when they are loaded, so begin again with them set.
        os.environ.update(SINGLE)
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]])
    from benchmarks import (
        by_hand,
        calls,
        configuration,
        native_calls,
        networks,
        plot,
        results,
        routing,
        startup,
    )

    groups, details = {}, {}
    for name, module in (
        ("routing", routing),
        ("startup", startup),
        ("configuration", configuration),
        ("calls", calls),
        ("native calls", native_calls),
        ("networks", networks),
        ("by hand", by_hand),
    ):
        print(f"measuring {name}", file=sys.stderr)
        groups[name], details[name] = module.measure()
        for one in groups[name]:
            verdict = "holds" if one.holds else "MISSED"
            print(f"  {one.name}: {one.value:.3g} {one.unit} (bar {one.bar:g}) {verdict}")
    results.save(groups, details)
    plot.draw(results.load())


if __name__ == "__main__":
    main()
