"""A program as a MIL program of one function, once every size is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.draft import Draft
from rlx.backends.array.host import NUMPY
from rlx.backends.coreml.boundary import HELD
from rlx.backends.coreml.table import CARRIED
from rlx.backends.coreml.writing import MOST_AXES, Emitted, Writing
from rlx.errors import UnsupportedFeature, printable

if TYPE_CHECKING:
    from rlx.program import Program
    from rlx.program.types import Value

FIX_SIZES = "fix the sizes: `rlx build … --size batch=1`, or another name and number."


@dataclass(slots=True)
class Emission:
    """A MIL program, and how each node got into it."""

    mil: Any = None
    nodes: list[Emitted] = field(default_factory=list)


def emit(program: Program, *, half: bool = False) -> Emission:
    """The program in MIL, its inputs named `input_0` …, its outputs `output_0` ….

    With `half`, its floats are to be rounded to float16: a constant has to fit.

    Raises:
        UnsupportedFeature: a size is not known, or a node can't be emitted; the message names it.
    """
    from coremltools import target
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import Function, types
    from coremltools.converters.mil.mil import Program as MilProgram

    for value in (*program.inputs, *program.outputs):
        _check_dtype(program, value)
    for value in program.inputs:
        _check_sizes(program, value)
    placeholders = {
        f"input_{at}": Builder.placeholder(
            _outer_shape(value), dtype=types.numpy_type_to_builtin_type(np.dtype(_outer(value)))
        )
        for at, value in enumerate(program.inputs)
    }
    emission = Emission(MilProgram())
    with Function(placeholders, opset_version=target.iOS17) as function:
        writing = Writing(Builder, emission.nodes, function, half)
        for at, value in enumerate(program.inputs):
            writing.take(value, function.inputs[f"input_{at}"])
        writing.block(Draft.from_block(program.body, NUMPY))
        outputs = [writing.give(value, f"output_{at}") for at, value in enumerate(program.outputs)]
        function.set_outputs(outputs)
    emission.mil.add_function("main", function)
    return emission


def _outer(value: Value) -> str:
    return HELD.get(value.type.dtype, "int32")


def _outer_shape(value: Value) -> tuple[int, ...]:
    return tuple(size for size in value.type.shape or () if isinstance(size, int)) or (1,)


def _check_dtype(program: Program, value: Value) -> None:
    if value.type.kind != "tensor" or value.type.dtype not in CARRIED:
        raise UnsupportedFeature(
            f"the mlpackage compiler can't hold {printable(value.name)!r} of "
            f"{printable(program.name)}: {value.type.dtype} is not among {', '.join(CARRIED)}",
            fix="build for another target: run `rlx backends`.",
        )


def _check_sizes(program: Program, value: Value) -> None:
    shape = value.type.shape
    if shape is None or not all(isinstance(size, int) and size > 0 for size in shape):
        sizes = "unknown" if shape is None else "[" + ",".join(map(str, shape)) + "]"
        raise UnsupportedFeature(
            f"the mlpackage compiler needs every size of every input, input "
            f"{printable(value.name)!r} of {printable(program.name)} has {printable(sizes)}",
            fix=FIX_SIZES,
        )
    if len(shape) > MOST_AXES:
        raise UnsupportedFeature(
            f"Core ML has tensors of at most {MOST_AXES} dimensions, input "
            f"{printable(value.name)!r} of {printable(program.name)} has {len(shape)}",
            fix="build for another target: run `rlx backends`.",
        )
