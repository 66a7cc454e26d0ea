"""`rlx run`: routes a program, compiles it, runs it, and says what came out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from rlx.cli import options, output, routes
from rlx.cli.options import Whole
from rlx.errors import ExecutionError, InputError, printable
from rlx.router.summary import brief

if TYPE_CHECKING:
    from rlx.program import Program

DRAWN = (
    "the inputs were drawn at random, so an index among them may be out of range: pass real ones "
    "with --input, or larger sizes with --size."
)


@click.command("run", short_help="Route a program, compile it, and run it.")
@click.argument("program", metavar="PROGRAM")
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="One input's array."
)
@click.option("--random", "random", is_flag=True, help="Draw the inputs that no --input gives.")
@click.option("--seed", default=0, show_default=True, type=Whole(0), help="Seed of --random.")
@click.option(
    "--size", "sizes", multiple=True, metavar="SYMBOL=N", help="A symbolic size, for --random."
)
@options.request
@options.precision
@click.option("--output-dir", metavar="DIR", help="Write each output to DIR/NAME.npy.")
@click.option(
    "--repeat",
    default=1,
    show_default=True,
    type=Whole(1),
    help="Run so often; time each.",
)
@routes.verbose
@options.config
@options.as_json
def command(
    program: str,
    inputs: tuple[str, ...],
    random: bool,
    seed: int,
    sizes: tuple[str, ...],
    device: str | None,
    backend: str | None,
    require: tuple[str, ...],
    precision: str | None,
    precision_policy: str | None,
    output_dir: str | None,
    repeat: int,
    verbose: bool,
    config: tuple[str, ...],
    as_json: bool,
    as_format: str,
) -> int:
    """Route PROGRAM (.onnx or .onnxtxt), compile it, and run it.

    \b
    rlx run model.onnx --random
    rlx run model.onnx --input x=x.npy --output-dir out
    rlx run model.onnx --random --precision f16 --precision-policy warn
    RLX_DEVICE=cuda,cpu rlx run model.onnx --random --size batch=8 --repeat 100
    """
    from rlx.cli.arrays import draw, read, summary, write
    from rlx.program import load
    from rlx.session import Session

    json_wanted = as_json or as_format == "json"
    loaded = load(program)
    feed = read(loaded, inputs)
    notes: list[str] = []
    if random:
        drawn, notes = draw(loaded, feed, sizes, seed)
        feed.update(drawn)
    elif sizes:
        raise click.UsageError("--size is for --random. Fix: add --random, or drop --size.")
    _complete(loaded, feed)
    with Session(
        device,
        precision,
        backend=backend,
        require=require,
        precision_policy=precision_policy,
        registry=options.registry(config),
    ) as session:
        began = time.perf_counter()
        model = session.compile(loaded)
        compiled = time.perf_counter() - began
        try:
            results, times = repeated(model, feed, repeat, show=not json_wanted)
        except ExecutionError as error:
            raise ExecutionError(error.message, fix=DRAWN if random else error.fix) from error
        decision = model.route
    named = dict(zip((value.name for value in loaded.outputs), results, strict=True))
    files = write(named, output_dir) if output_dir is not None else {}
    document = {
        "program": loaded.name,
        "route": decision.to_json(),
        "compile_seconds": compiled,
        "run_seconds": {"first": times[0], "min": min(times), "repeat": repeat},
        "notes": notes,
        "outputs": [
            {**summary(name, value), "file": files.get(name)} for name, value in named.items()
        ],
    }
    if json_wanted:
        output.dump(document)
    else:
        output.text([routes.text(decision, whole=verbose, form=brief), *describe(document)])
    return 0


def _complete(program: Program, feed: dict[str, Any]) -> None:
    missing = [value.name for value in program.inputs if value.name not in feed]
    if missing:
        names = ", ".join(printable(name) for name in missing)
        raise InputError(
            f"no value for {'input' if len(missing) == 1 else 'inputs'} {names}",
            fix="pass --input NAME=FILE.npy for each, or --random.",
        )


def repeated(
    model: Any, feed: dict[str, Any], repeat: int, *, show: bool
) -> tuple[list[Any], list[float]]:
    """Run `repeat` times, with a progress bar; the outputs of the last run, and all times."""
    from rlx.cli.progress import track

    times, results = [], []
    for _ in track(range(repeat), "running", show=show and repeat > 1):
        began = time.perf_counter()
        results = model.run(feed)
        times.append(time.perf_counter() - began)
    return list(results), times


def describe(document: dict[str, Any]) -> list[str]:
    """The lines below the route: notes, times, one line per output."""
    seconds = document["run_seconds"]
    lines = [f"note: {printable(note)}" for note in document["notes"]]
    best = f", best of {seconds['repeat']} {milliseconds(seconds['min'])}" * (seconds["repeat"] > 1)
    lines.append(
        f"compiled in {milliseconds(document['compile_seconds'])}, "
        f"ran in {milliseconds(seconds['first'])}{best}"
    )
    return [*lines, *outputs(document["outputs"])]


def outputs(summaries: list[dict[str, Any]]) -> list[str]:
    """One line for each output."""
    rows = []
    for one in summaries:
        shape = "x".join(map(str, one["shape"])) if one["shape"] else "scalar"
        values = (
            ""
            if one["mean"] is None
            else f"min {one['min']:.6g} max {one['max']:.6g} mean {one['mean']:.6g}"
        )
        file = f"-> {printable(one['file'])}" if one["file"] else ""
        rows.append(
            [printable(one["name"]), one["dtype"], shape, " ".join(filter(None, (values, file)))]
        )
    return output.columns(rows)


def milliseconds(seconds: float) -> str:
    """A time with three digits: `12.3 ms`, `1.23 s`."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
