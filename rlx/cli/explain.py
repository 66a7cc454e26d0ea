"""`rlx explain`: where a program would run, and why not elsewhere; opens nothing."""

from __future__ import annotations

import click

from rlx.cli import options, output, routes


@click.command("explain", short_help="Say where a program would run, and why not elsewhere.")
@click.argument("program", metavar="PROGRAM")
@options.request
@options.precision
@click.option("--all", "evaluate_all", is_flag=True, help="Evaluate every check of every backend.")
@click.option("--no-probe", is_flag=True, help="Run no probe; take every backend as available.")
@click.option("--facts", metavar="FILE", help="Take what is available from `rlx devices --json`.")
@click.option(
    "--nodes", is_flag=True, help="Also print the dispatch report, operation by operation."
)
@routes.verbose
@options.config
@options.as_json
def command(
    program: str,
    device: str | None,
    backend: str | None,
    require: tuple[str, ...],
    precision: str | None,
    precision_policy: str | None,
    evaluate_all: bool,
    no_probe: bool,
    facts: str | None,
    nodes: bool,
    verbose: bool,
    config: tuple[str, ...],
    as_json: bool,
    as_format: str,
) -> int:
    """Say where PROGRAM (.onnx or .onnxtxt) would run, and why not elsewhere.

    \b
    rlx explain model.onnx
    rlx explain model.onnx -v              a line for each reason, with its place
    rlx explain model.onnx --device cuda --all
    rlx explain model.onnx --facts facts-of-the-server.json --json

    Exit code 0 when a backend fits, 3 when none does.
    """
    from rlx.cli.facts import read_facts
    from rlx.program import load
    from rlx.session import route

    if no_probe and facts is not None:
        raise click.UsageError("--no-probe and --facts exclude each other. Fix: drop one of them.")
    registry = options.registry(config)
    decision = route(
        load(program),
        registry=registry,
        device=device,
        backend=backend,
        require=require,
        precision=precision,
        precision_policy=precision_policy,
        evaluate_all=evaluate_all,
        facts=read_facts(facts) if facts is not None else None,
        probe=not no_probe,
    )
    if as_json or as_format == "json":
        output.dump(decision.to_json())
    else:
        output.text(routes.text(decision, whole=verbose or evaluate_all))
        if nodes and decision.backend is not None:
            output.text(routes.fitted(str(decision.dispatch_report)))
    return 0 if decision.backend is not None else 3
