"""`rlx demo`: a real network from the onnx package, routed, run, and compared."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlx.cli import options, output, routes
from rlx.cli.run import milliseconds

if TYPE_CHECKING:
    from rlx.program import Program

NETWORKS = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)
RTOL, ATOL = 2e-3, 1e-7
"""The tolerance that ONNX's suite has for these networks."""


@click.command("demo", short_help="Route and run a real network that ships with onnx.")
@click.argument("network", default="resnet50", type=click.Choice(NETWORKS))
@options.request
@routes.verbose
@options.config
@options.as_json
def command(
    network: str,
    device: str | None,
    backend: str | None,
    require: tuple[str, ...],
    verbose: bool,
    config: tuple[str, ...],
    as_json: bool,
    as_format: str,
) -> int:
    """Route NETWORK, run it, and compare with the output that is stored beside it.

    \b
    rlx demo
    rlx demo squeezenet --backend numpy
    RLX_PRECEDENCE=numpy rlx demo

    The networks are real architectures with synthetic weights, from the onnx package's own tests.
    """
    from rlx.program import load
    from rlx.session import Session

    quiet = as_json or as_format == "json"
    began = time.perf_counter()
    program = load(folder() / f"light_{network}.onnx")
    times = {"load": time.perf_counter() - began}
    say(
        quiet, f"loaded {program.name}: {program.node_count} nodes in {milliseconds(times['load'])}"
    )
    feed, expected = stored(network, program)
    with Session(
        device, backend=backend, require=require, registry=options.registry(config)
    ) as session:
        began = time.perf_counter()
        model = session.compile(program)
        times["compile"] = time.perf_counter() - began
        say(quiet, routes.text(model.route, whole=verbose))
        began = time.perf_counter()
        results = model.run(feed)
        times["run"] = time.perf_counter() - began
    say(quiet, f"compiled in {milliseconds(times['compile'])}, ran in {milliseconds(times['run'])}")
    worst, agrees = compare(results, expected)
    verdict = "agrees with" if agrees else "DIFFERS from"
    say(
        quiet,
        f"{verdict} the stored output: largest difference {worst:.3g}, allowed {RTOL:.1%}",
    )
    if quiet:
        output.dump(
            {
                "network": network,
                "route": model.route.to_json(),
                "seconds": times,
                "largest_difference": worst,
                "agrees": agrees,
            }
        )
    return 0 if agrees else 1


def say(quiet: bool, line: str) -> None:
    """Print progress, unless JSON was asked for."""
    if not quiet:
        output.text(line)


def folder() -> Path:
    """The folder of the light networks, inside the onnx package."""
    import onnx.backend.test

    return Path(onnx.backend.test.__file__).parent / "data" / "light"


def stored(network: str, program: Program) -> tuple[dict[str, Any], list[Any]]:
    """The inputs that the stored outputs belong to, and those outputs.

    The input is the one of ONNX's suite: ascending numbers divided by their count.
    """
    import numpy as np
    import onnx
    from onnx import numpy_helper

    feed = {}
    for value in program.inputs:
        shape = tuple(size for size in value.type.shape or () if isinstance(size, int))
        count = int(np.prod(shape))
        feed[value.name] = (np.arange(count, dtype=np.float32) / count).reshape(shape)
    tensor = onnx.TensorProto()
    tensor.ParseFromString((folder() / f"light_{network}_output_0.pb").read_bytes())
    return feed, [numpy_helper.to_array(tensor)]


def compare(results: list[Any], expected: list[Any]) -> tuple[float, bool]:
    """The largest absolute difference, and whether all is within the suite's tolerance."""
    import numpy as np

    pairs = list(zip(results, expected, strict=True))
    worst = max(float(np.max(np.abs(got - want))) for got, want in pairs)
    return worst, all(np.allclose(got, want, rtol=RTOL, atol=ATOL) for got, want in pairs)
