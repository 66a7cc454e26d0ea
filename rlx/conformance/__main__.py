"""`python -m rlx.conformance`: measure what backends can do, and write or check their coverage."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rlx.conformance import coverage_file, suite
from rlx.conformance.cases import load_cases
from rlx.conformance.measure import Progress as Report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0: as claimed, 1: not."""
    parser = argparse.ArgumentParser(prog="python -m rlx.conformance", description=__doc__)
    parser.add_argument("--backend", action="append", required=True, metavar="ID")
    parser.add_argument("--op", action="append", metavar="NAME", help="only these operations")
    parser.add_argument("-v", "--verbose", action="store_true", help="list every finding")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true", help="write configs/coverage/ID.yaml")
    mode.add_argument("--check", action="store_true", help="hold claims against what runs")
    mode.add_argument("--suite", action="store_true", help="ONNX's suite through the router")
    chosen = parser.parse_args(arguments)
    if chosen.write and chosen.op:
        parser.error("--write measures every operation: leave --op out")
    console = Console(stderr=True)
    with _progress(console) as report:
        if chosen.suite:
            report("reading the suite", 0, 1)
            tallies = [suite.run_suite(name, load_cases(), report) for name in chosen.backend]
        else:
            results = coverage_file.measure_all(chosen.backend, chosen.op, report)
    if chosen.suite:
        for name, tally in zip(chosen.backend, tallies, strict=True):
            print(f"{name}: {tally}")  # noqa: T201 - a command's answer
            for case, why in sorted(tally.wrong.items()):
                print(f"  wrong: {case}: {why}")  # noqa: T201 - a command's answer
        return int(any(tally.wrong for tally in tallies))
    bad = 0
    for result in results:
        if chosen.write:
            coverage_file.write(result)
        report_text, findings = coverage_file.summary(result, verbose=chosen.verbose)
        print(report_text)  # noqa: T201 - a command's answer
        bad += findings
    return int(bool(chosen.check and bad))


@contextmanager
def _progress(console: Console) -> Iterator[Report]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield report


if __name__ == "__main__":
    sys.exit(main())
