"""`rlx payload`: says whether an artifact fits here, what it is, and runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rlx.artifact.artifact import read_artifact
from rlx.artifact.checking import Verdict, check
from rlx.cli import options, output
from rlx.cli.options import Whole
from rlx.errors import CorruptArtifact, InputError, printable

if TYPE_CHECKING:
    from rlx.artifact.header import Header
    from rlx.program import Value


@click.group("payload", short_help="Check, show or run what `rlx build` wrote.")
def command() -> None:
    """Check, show or run an artifact that `rlx build` wrote.

    \b
    rlx payload check model.rlx
    rlx payload check model.rlx --program model.onnx
    rlx payload show model.rlx --json
    rlx payload run model.rlx --input x=x.npy --output-dir out
    """


@command.command("check", short_help="Say compatible, stale, foreign or corrupt.")
@click.argument("file", metavar="FILE")
@click.option("--program", metavar="PROGRAM", help="Also ask whether it was built from this.")
@options.config
@options.as_json
def check_command(
    file: str, program: str | None, config: tuple[str, ...], as_json: bool, as_format: str
) -> int:
    """Say whether FILE is compatible, stale, foreign or corrupt; no device is needed.

    Exit code 0 when it is compatible, 1 when it is not.
    """
    from rlx.program import load

    registry = options.registry(config)
    loaded = None if program is None else load(program)
    try:
        found = check(read_artifact(file).header, registry, loaded)
    except CorruptArtifact as error:
        found = Verdict("corrupt", (error.message,))
    if as_json or as_format == "json":
        output.dump({"file": file, **found.to_json()})
    else:
        reasons = [f"  {printable(text)}" for text in found.reasons]
        notes = [f"  note: {printable(text)}" for text in found.notes]
        output.text([f"{printable(file)}: {found.word}", *reasons, *notes])
    return 0 if found.word == "compatible" else 1


@command.command("show", short_help="Say what an artifact is.")
@click.argument("file", metavar="FILE")
@options.as_json
def show_command(file: str, as_json: bool, as_format: str) -> int:
    """Say what FILE was built from, for which target, and by what."""
    header = read_artifact(file).header
    document = {"file": file, **summary(header)}
    if as_json or as_format == "json":
        output.dump(document)
        return 0
    values = [
        ["program", printable(header.name), f"sha256 {header.program}"],
        ["target", header.target, f"{header.backend} on {header.device}"],
        ["payload", header.payload_format, f"by {printable(header.toolchain)}"],
        ["precision", header.precision or "of the program", ""],
    ]
    values += [["input", printable(one.name), _type(one)] for one in header.inputs]
    values += [["output", printable(one.name), _type(one)] for one in header.outputs]
    values += [["part", part.name, f"{part.length} bytes"] for part in header.parts]
    counted = ", ".join(f"{name} {nodes}" for name, nodes in header.operations)
    output.text([*output.columns(values), f"operations  {printable(counted)}"])
    return 0


@command.command("run", short_help="Run an artifact on its device.")
@click.argument("file", metavar="FILE")
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=FILE.npy", help="One input's array."
)
@click.option("--random", "random", is_flag=True, help="Draw the inputs that no --input gives.")
@click.option("--seed", default=0, show_default=True, type=Whole(0), help="Seed of --random.")
@click.option("--size", "sizes", multiple=True, metavar="SYMBOL=N", help="A size, for --random.")
@click.option("--index", type=Whole(0, 65535), help="Of the device; default: as asked, else 0.")
@click.option("--output-dir", metavar="DIR", help="Write each output to DIR/NAME.npy.")
@options.config
@options.as_json
def run_command(
    file: str,
    inputs: tuple[str, ...],
    random: bool,
    seed: int,
    sizes: tuple[str, ...],
    index: int | None,
    output_dir: str | None,
    config: tuple[str, ...],
    as_json: bool,
    as_format: str,
) -> int:
    """Put FILE on the device that it was built for, and run it.

    Exit code 3 where the device can't be used, 1 where the artifact does not fit.
    """
    from rlx.cli import arrays
    from rlx.session.building import load_artifact

    made = read_artifact(file)
    feed = arrays.read(made.header, inputs)
    notes: list[str] = []
    if random:
        drawn, notes = arrays.draw(made.header, feed, sizes, seed)
        feed.update(drawn)
    elif sizes:
        raise click.UsageError("--size is for --random. Fix: add --random, or drop --size.")
    missing = [value.name for value in made.header.inputs if value.name not in feed]
    if missing:
        raise InputError(
            f"no value for {', '.join(map(printable, missing))}",
            fix="pass --input NAME=FILE.npy for each, or --random.",
        )
    with load_artifact(made, index=index, registry=options.registry(config)) as model:
        named = model.run_named(feed)
        where = f"{model.backend} on {model.device}"
    files = arrays.write(named, output_dir) if output_dir is not None else {}
    summaries = [
        {**arrays.summary(name, value), "file": files.get(name)} for name, value in named.items()
    ]
    document = {
        "file": file,
        "backend": made.header.backend,
        "device": str(model.device),
        "notes": notes,
        "outputs": summaries,
    }
    if as_json or as_format == "json":
        output.dump(document)
    else:
        from rlx.cli.run import outputs

        output.text(
            [
                f"{printable(made.header.name)} ran by {where}",
                *(f"note: {printable(note)}" for note in notes),
                *outputs(summaries),
            ]
        )
    return 0


def summary(header: Header) -> dict[str, Any]:
    """The header as plain data."""

    def values(side: tuple[Value, ...]) -> list[dict[str, Any]]:
        return [
            {
                "name": one.name,
                "dtype": one.type.dtype,
                "shape": None if one.type.shape is None else list(one.type.shape),
            }
            for one in side
        ]

    return {
        "program": {"name": header.name, "digest": header.program},
        "backend": header.backend,
        "device": header.device,
        "target": header.target,
        "payload_format": header.payload_format,
        "toolchain": header.toolchain,
        "precision": header.precision,
        "registration": header.registration,
        "registry": header.registry,
        "inputs": values(header.inputs),
        "outputs": values(header.outputs),
        "operations": [{"operation": name, "nodes": nodes} for name, nodes in header.operations],
        "parts": [
            {"name": part.name, "length": part.length, "sha256": part.sha256}
            for part in header.parts
        ],
    }


def _type(one: Value) -> str:
    from rlx.program.program import show

    return show(one.type)
