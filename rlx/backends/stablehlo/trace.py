"""From a program to a function that jax can trace, for a device that need not be here.

The array engine plans the program as it does for the jax backends, on the CPU; the plan is then
one function of the weights and the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.backends.array.control import compile_draft
from rlx.backends.array.draft import Draft
from rlx.backends.array.dtypes import numpy_dtype
from rlx.backends.array.host import NUMPY
from rlx.backends.array.start import Compiling
from rlx.errors import UnsupportedFeature, printable

if TYPE_CHECKING:
    from rlx.backends.array.library import Compiler, Function, Library
    from rlx.backends.array.plan import Plan
    from rlx.backends.array.site import Kernel
    from rlx.program import Program

SCOPE = "rlx-step-"
FIX = "choose another target: run `rlx backends`."


@dataclass(frozen=True, slots=True)
class Traceable:
    """A function of weights and inputs, both sequences, and what it is to be traced with."""

    function: Callable[[Sequence[Any], Sequence[Any]], list[Any]]
    weights: tuple[np.ndarray[Any, Any], ...]
    inputs: tuple[Any, ...]
    """Arrays, or jax's ShapeDtypeStruct, with the inputs' dtypes and shapes."""
    labels: tuple[str, ...] = ()
    """What each step is to a reader; in locations a step is `SCOPE` and its number."""


def planned(program: Program, device: str, compiler: Compiler) -> Compiling:
    """The program as a plan for jax, whose kernels may know the device's name; nothing runs.

    Raises:
        NotImplementedError: a node has no kernel, or its values decide what is computed; the
            message names it.
    """
    from rlx.backends.array.jax import library
    from rlx.backends.array.native_jax_devices import cpu

    here = library(cpu())
    there: Library = replace(here, device=device, compile=compiler)
    draft = Draft.from_block(program.body, there)
    plan: Plan = NUMPY.guard(here.guard, compile_draft, draft)
    made = Compiling(_scoped(plan), there, program.name)
    if made.uncompiled is not None:
        raise NotImplementedError(made.uncompiled)
    return made


def _scoped(plan: Plan) -> Plan:
    """The same, with each step's number in the locations of what jax makes of it."""
    steps = tuple((_in_scope(number, step[0]), *step[1:]) for number, step in enumerate(plan.steps))
    return replace(plan, steps=steps)


def _in_scope(number: int, kernel: Kernel) -> Kernel:
    import jax

    def run(*inputs: Any) -> Any:
        with jax.named_scope(f"{SCOPE}{number}"):
            return kernel(*inputs)

    return run


def traceable(program: Program, device: str, shapes: Sequence[tuple[Any, ...]]) -> Traceable:
    """The program as one function; `shapes` are its inputs', of sizes or of jax's symbols.

    Raises:
        UnsupportedFeature: it can't be one; the message names the input or the node.
    """
    import jax

    refuse_kinds(program)
    for value in program.inputs:
        if value.type.shape is None:
            raise UnsupportedFeature(
                f"the input {printable(value.name)} of {printable(program.name)} has no known "
                "number of dimensions",
                fix="state its shape in the program.",
            )
    try:
        made = planned(program, device, _kept)
    except NotImplementedError as error:
        raise refused(program, error) from error
    for value, held in zip(program.inputs, made.plan.host_inputs, strict=True):
        if held:
            raise UnsupportedFeature(
                f"the input {printable(value.name)} of {printable(program.name)} says how to "
                "compute (a shape, axes, a count, a condition), which is fixed when it is exported",
                fix="make it an initializer of the program, or choose another target.",
            )
    examples = [
        jax.ShapeDtypeStruct(shape, numpy_dtype(value.type.dtype))
        for value, shape in zip(program.inputs, shapes, strict=True)
    ]
    found: Any = made.compile(examples)
    return replace(found, labels=made.plan.labels)  # type: ignore[no-any-return]


def refused(program: Program, error: Exception) -> UnsupportedFeature:
    """The error for a program that can't be exported."""
    said = printable(str(error).strip() or type(error).__name__)
    return UnsupportedFeature(f"{printable(program.name)} can't be exported: {said:.500}", fix=FIX)


def refuse_kinds(program: Program) -> None:
    """Refuse inputs and outputs that are no tensors of numbers: a module's are nothing else.

    Raises:
        UnsupportedFeature: there is one; the message names it.
    """
    from rlx.backends.array.native_jax_compile import HELD

    for side, values in (("input", program.inputs), ("output", program.outputs)):
        for value in values:
            kind = value.type
            if kind.kind == "tensor" and kind.dtype not in HELD:
                continue
            found = kind.kind if kind.kind != "tensor" else f"tensor of {kind.dtype}"
            raise UnsupportedFeature(
                f"the {side} {printable(value.name)} of {printable(program.name)} is a {found}: "
                "only tensors of numbers can be exported",
                fix=FIX,
            )


def captured(function: Function, constants: Sequence[Any], inputs: Sequence[Any]) -> Traceable:
    """What a compiler of the engine is given, as it is to be traced."""
    from rlx.backends.array.native_jax_compile import traceable

    traced, kept = traceable(function, constants)
    return Traceable(traced, tuple(np.asarray(x) for x in kept), tuple(inputs))


def _kept(function: Function, constants: Sequence[Any], inputs: Sequence[Any]) -> Any:
    """Stands where a compiler would: keeps what there is to compile."""
    return captured(function, constants, inputs)


@contextmanager
def settled() -> Iterator[None]:
    """What jax has to be set to while programs are planned and traced, in this thread."""
    from rlx.backends.array.native_jax_compile import settings
    from rlx.backends.array.native_jax_devices import cpu

    with settings(cpu()):
        yield
