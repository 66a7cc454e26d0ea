"""`load`: a program from a file, bytes, or an ONNX model in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from rlx.errors import ProgramError, printable
from rlx.origin import Origin
from rlx.program.canonical import canonicalise
from rlx.program.program import Program
from rlx.program.reading import parse, read_file

_NAMELESS = frozenset({"", "graph", "main", "main_graph", "torch_jit", "torch-jit-export", "model"})

LONGEST_MESSAGE = 2000
"""Characters: names in a damaged file can be of any length."""

Source: TypeAlias = str | os.PathLike[str] | bytes | onnx.ModelProto | Program


def load(source: Source, *, folder: str | os.PathLike[str] | None = None) -> Program:
    """Read a program: a path to `.onnx` or `.onnxtxt`, its bytes, a `ModelProto`, a `Program`.

    The program is checked, its local functions are inlined, and it is brought to the canonical
    opset; the argument is never changed. `folder` is where the external data of a program
    without a path lies; a file's own folder is used otherwise. Whatever is wrong with the
    program is a `ProgramError`.
    """
    if isinstance(source, Program):
        return source
    path = os.fsdecode(os.fspath(source)) if isinstance(source, str | os.PathLike) else None
    try:
        if path is not None:
            text = True if path.lower().endswith(".onnxtxt") else None
            folder = Path(path).parent if folder is None else folder
            return _program(parse(read_file(path), text=text), path, folder)
        if isinstance(source, onnx.ModelProto):
            return _program(source, None, folder)
        if isinstance(source, bytes | bytearray | memoryview):
            return _program(parse(bytes(source)), None, folder)
    except ProgramError as error:
        error.message = printable(error.message)[:LONGEST_MESSAGE]
        if path is not None:
            line, column = (error.origin.line, error.origin.column) if error.origin else (0, 0)
            error.origin = Origin(path, line, column)
        raise
    raise ProgramError(
        f"cannot load a {type(source).__name__}",
        fix="pass a path, bytes, an onnx.ModelProto or a Program.",
    )


def _program(
    model: onnx.ModelProto, path: str | None, folder: str | os.PathLike[str] | None
) -> Program:
    try:
        canonical = canonicalise(model, None if folder is None else Path(folder))
    except (DecodeError, RecursionError) as error:
        raise ProgramError(
            "graphs or types within each other, over 100 levels deep", fix="flatten the model."
        ) from error
    name = model.graph.name
    if path is not None:
        name = Path(path).stem
    elif name in _NAMELESS:
        name = "program"
    try:
        skeleton = canonical.model.SerializeToString(deterministic=True)
    except ValueError as error:
        raise ProgramError(f"too large to be read: {error}") from error
    return Program.from_canonical(skeleton, canonical.constants, name, path)
