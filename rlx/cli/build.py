"""`rlx build`: compiles a program for a target, here or for a device that is elsewhere."""

from __future__ import annotations

import click

from rlx.cli import options, output
from rlx.errors import printable


@click.command("build", short_help="Compile a program for a target, into one file.")
@click.argument("program", metavar="PROGRAM")
@click.option("--target", required=True, metavar="TARGET", help="A target, or a backend's id.")
@click.option(
    "--output", "path", metavar="FILE", help="The file to write; default: NAME.TARGET.rlx."
)
@click.option("--precision", type=click.Choice(["f32", "f16", "bf16"]), help="Compute in this.")
@click.option(
    "--size", "sizes", multiple=True, metavar="SYMBOL=N", help="Fix a symbolic size of the inputs."
)
@options.config
@options.as_json
def command(
    program: str,
    target: str,
    path: str | None,
    precision: str | None,
    sizes: tuple[str, ...],
    config: tuple[str, ...],
    as_json: bool,
    as_format: str,
) -> int:
    """Compile PROGRAM (.onnx or .onnxtxt) for a target, without its device.

    \b
    rlx build model.onnx --target onnxruntime-cpu
    rlx build model.onnx --target onnxruntime-cpu --output model.rlx
    rlx build model.onnx --target jax-cuda --size batch=8
    rlx payload check model.rlx
    rlx payload run model.rlx --random
    """
    from rlx.cli.arrays import read_sizes
    from rlx.cli.payload import summary
    from rlx.program import load
    from rlx.program.sizing import with_sizes
    from rlx.session.building import build

    loaded = with_sizes(load(program), read_sizes(sizes))
    made = build(loaded, target, precision=precision, registry=options.registry(config))
    written = path or f"{_plain(loaded.name)}.{made.header.target}.rlx"
    made.write(written)
    document = {"file": written, **summary(made.header)}
    if as_json or as_format == "json":
        output.dump(document)
    else:
        size = sum(part.length for part in made.header.parts)
        output.text(
            f"{printable(written)}: {printable(loaded.name)} for {made.header.target} "
            f"({made.header.payload_format} by {printable(made.header.toolchain)}), {size} bytes"
        )
    return 0


def _plain(name: str) -> str:
    """A program's name as part of a file's name."""
    kept = "".join(char if char.isalnum() or char in "-_." else "-" for char in name)
    return kept.strip(".-")[:100] or "program"
