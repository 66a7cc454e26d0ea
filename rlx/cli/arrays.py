"""Arrays in and out of commands: .npy files, random inputs, one-line summaries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rlx.errors import InputError, printable
from rlx.files import open_plain
from rlx.session.inputs.dtypes import numpy_dtype

if TYPE_CHECKING:
    from rlx.program import Value
    from rlx.program.types import Interface


def read(program: Interface, pairs: tuple[str, ...]) -> dict[str, Any]:
    """Read `NAME=FILE.npy` pairs; pickles are never loaded."""
    known = [value.name for value in program.inputs]
    feed: dict[str, Any] = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not equals or not name or not file:
            raise click.UsageError(
                f"--input {printable(pair)!r} is not NAME=FILE.npy. Fix: write --input x=x.npy."
            )
        if name not in known:
            raise InputError(
                f"{printable(program.name)} has no input {printable(name)!r}",
                fix=f"its inputs are: {', '.join(map(printable, known)) or 'none'}.",
            )
        if name in feed:
            raise InputError(f"input {printable(name)!r} is given twice", fix="give it once.")
        feed[name] = _load(file)
    return feed


def _load(file: str) -> Any:
    try:
        with open_plain(file) as stream:
            array = np.load(stream, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{printable(file)} can't be read as an array: {printable(said).rstrip('.')}",
            fix="write it with numpy.save.",
        ) from error
    if not isinstance(array, np.ndarray):
        raise InputError(
            f"{printable(file)} holds several arrays", fix="write one array with numpy.save."
        )
    return array


def draw(
    program: Interface, feed: dict[str, Any], sizes: tuple[str, ...], seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Random arrays for the inputs that `feed` lacks, and notes on what was assumed.

    Floats are uniform in [0, 1), integers in 0..9, booleans even. A symbolic size is taken from
    an array in `feed`, else from `sizes`, else it is 1, which a note says.
    """
    symbols, notes = read_sizes(sizes), []
    for value in (one for one in program.inputs if one.name in feed):
        for size, got in zip(value.type.shape or (), np.shape(feed[value.name]), strict=False):
            if isinstance(size, str) and symbols.setdefault(size, got) != got:
                raise InputError(
                    f"input {printable(value.name)!r} has {printable(size)}={got}, "
                    f"--size says {symbols[size]}",
                    fix="drop --size, or pass another array.",
                )
    unused = set(read_sizes(sizes)) - {
        s for v in program.inputs for s in v.type.shape or () if isinstance(s, str)
    }
    if unused:
        raise InputError(
            f"no input has a size named {', '.join(sorted(map(printable, unused)))}",
            fix="see the sizes in the program's inputs: "
            + "; ".join(map(_describe, program.inputs))
            + ".",
        )
    generator = np.random.default_rng(seed)
    drawn = {}
    for value in program.inputs:
        if value.name in feed:
            continue
        shape, assumed = _shape(value, symbols)
        notes += [f"{one}=1 was assumed; --size {one}=NUMBER changes it" for one in assumed]
        try:
            drawn[value.name] = _random(generator, value, shape)
        except (ValueError, MemoryError) as error:  # NumPy's word for more than can be addressed
            raise InputError(
                f"input {_describe(value)} is too large to be drawn",
                fix="pass a smaller one with --input NAME=FILE.npy, or lower --size.",
            ) from error
    return drawn, list(dict.fromkeys(notes))


def read_sizes(pairs: tuple[str, ...]) -> dict[str, int]:
    """What `--size SYMBOL=N` says, by symbol."""
    sizes = {}
    for pair in pairs:
        name, _, number = pair.rpartition("=")
        if not name or not (number.isascii() and number.isdecimal()) or len(number) > 9:
            raise click.UsageError(
                f"--size {printable(pair)!r} is not SYMBOL=N. Fix: write --size batch=8."
            )
        sizes[name] = int(number)
    return sizes


def _describe(value: Value) -> str:
    shape = ", ".join("?" if size is None else str(size) for size in value.type.shape or ())
    return printable(f"{value.name}: {value.type.dtype}[{shape}]")


def _shape(value: Value, symbols: dict[str, int]) -> tuple[tuple[int, ...], list[str]]:
    if value.type.kind != "tensor" or value.type.shape is None:
        raise InputError(
            f"--random can't draw input {_describe(value)}",
            fix="pass it with --input NAME=FILE.npy.",
        )
    assumed = [
        f"{value.name}[{axis}]" if size is None else size
        for axis, size in enumerate(value.type.shape)
        if size is None or (isinstance(size, str) and size not in symbols)
    ]
    shape = tuple(
        size if isinstance(size, int) else symbols.get(size, 1) if size else 1
        for size in value.type.shape
    )
    return shape, [one for one in assumed if "[" not in one]


def _random(generator: np.random.Generator, value: Value, shape: tuple[int, ...]) -> Any:
    dtype = numpy_dtype(value.type.dtype)
    kind = "" if dtype is None else dtype.kind
    if kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if kind and kind in "iu":
        return generator.integers(0, 10, shape).astype(dtype)
    if kind and kind in "fV":
        return generator.random(shape).astype(dtype)
    raise InputError(
        f"--random can't draw input {_describe(value)}", fix="pass it with --input NAME=FILE.npy."
    )


def summary(name: str, value: Any) -> dict[str, Any]:
    """One output: name, dtype, shape; least, greatest and mean where it has numbers."""
    if not isinstance(value, np.ndarray):
        length = len(value) if isinstance(value, list) else 0
        kind = "sequence" if isinstance(value, list) else type(value).__name__
        return {
            "name": name,
            "dtype": kind,
            "shape": [length],
            "min": None,
            "max": None,
            "mean": None,
        }
    known = {"name": name, "dtype": str(value.dtype), "shape": list(value.shape)}
    if value.size == 0 or value.dtype.kind not in "biuf":
        return {**known, "min": None, "max": None, "mean": None}
    numbers = value.astype(np.float64)
    with np.errstate(all="ignore"):
        return {
            **known,
            "min": _finite(numbers.min()),
            "max": _finite(numbers.max()),
            "mean": _finite(numbers.mean()),
        }


def _finite(number: Any) -> float | None:
    return float(number) if np.isfinite(number) else None


def write(named: dict[str, Any], folder: str) -> dict[str, str]:
    """Write each array output to a file of its own; the paths by output name."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    for name, value in named.items():
        path = path_of(folder, name)
        if str(path) in files.values():
            raise InputError(
                f"outputs {printable(name)!r} and another both map to {printable(str(path))}",
                fix="rename the program's outputs.",
            )
        np.save(path, np.asarray(value), allow_pickle=False)
        files[name] = str(path)
    return files


def path_of(folder: str, name: str) -> Path:
    """Where an output is written: its name with what a file name can't hold replaced by `_`."""
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name).lstrip(".") or "_"
    return Path(folder) / f"{safe[:200]}.npy"
