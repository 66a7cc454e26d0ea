"""`python -m benchmarks.gpu_suite [BACKEND…]`: ONNX's suite through the router on a GPU's backends.

Claims are taken as they stand: a case passes, or is refused before anything runs. Prints what each
backend passed, and its wrong answers; the exit code is 1 where there is a wrong one.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from rlx.conformance.cases import load_cases
from rlx.conformance.pool import Pool
from rlx.conformance.suite import run_suite

BACKENDS = ("torch-cuda", "jax-cuda", "cupy")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="*", metavar="BACKEND", default=BACKENDS)
    parser.add_argument("--jobs", type=int, default=1, help="child processes for each backend")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        pools = {name: stack.enter_context(Pool(name, (), chosen.jobs)) for name in chosen.backends}
        tallies = run_suite(pools, load_cases(), lambda *_: None)
    wrong = 0
    for name, tally in tallies.items():
        print(f"{name}: {len(tally.passed)} passed, {len(tally.refused)} refused, of {tally.total}")
        for verdict, cases in tally.broken.items():
            wrong += len(cases)
            for case, why in sorted(cases.items()):
                print(f"  {verdict}: {case}: {why}")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
