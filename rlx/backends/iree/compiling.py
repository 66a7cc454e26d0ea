"""Compiling: a program becomes StableHLO, and IREE makes a module of that, in a child process."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.backends.array.dtypes import name_of
from rlx.backends.iree.signature import ELEMENTS, Signature, Types
from rlx.errors import UnsupportedFeature, printable

if TYPE_CHECKING:
    import numpy as np

    from rlx.backends.stablehlo.trace import Traceable
    from rlx.program import Program

LOWERED = "cpu"
"""The platform of jax whose lowering IREE reads: it has the fewest calls of libraries."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A module, and what it is called with."""

    module: bytes
    signature: Signature
    weights: tuple[np.ndarray[Any, Any], ...]


def compile_program(program: Program, device: str, backend: str, flags: list[str]) -> Compiled:
    """The program for one of the compiler's backends; `device` is what kernels know it as.

    Raises:
        UnsupportedFeature: the program can't be exported, or IREE does not compile it.
    """
    from rlx.backends.stablehlo.export import lowered, traced
    from rlx.backends.stablehlo.trace import settled

    with settled():
        found = traced(program, device, dynamic=False)
        exported = lowered(program, found, LOWERED)
    refuse_dtypes(signature(exported))
    made = compile_exported(found, exported, backend, flags, program.name)
    return Compiled(made, signature(exported), found.weights)


def refuse_dtypes(signature: Signature) -> None:
    """Refuse what can't be put into IREE's buffers.

    Raises:
        UnsupportedFeature: a dtype has no element type.
    """
    for dtype, _ in (*signature.weights, *signature.inputs, *signature.outputs):
        if dtype not in ELEMENTS:
            raise UnsupportedFeature(
                f"IREE takes and gives no {dtype}", fix="choose another target: run `rlx backends`."
            )


def compile_exported(
    found: Traceable, exported: Any, backend: str, flags: list[str], name: str
) -> bytes:
    """The module that IREE makes of a function, and of what jax made of it.

    Raises:
        UnsupportedFeature: IREE does not compile it; the message names the node, where IREE does.
    """
    complaint = _compiled(exported, backend, flags)
    if isinstance(complaint, bytes):
        return complaint
    node = _culprit(found, backend, flags)
    raise UnsupportedFeature(
        f"IREE does not compile {printable(name)} for {backend}: {printable(node)}"
        f"{_reason(complaint)}",
        fix="choose another target: run `rlx backends`.",
    )


def _compiled(exported: Any, backend: str, flags: list[str]) -> bytes | str:
    """The module, or what the compiler said instead."""
    from iree.compiler import CompilerToolError, compile_str

    try:
        made = compile_str(
            exported.mlir_module_serialized,
            target_backends=[backend],
            input_type="stablehlo",
            extra_args=flags,
        )
    except CompilerToolError as error:
        return str(error)
    return bytes(made)


def _culprit(found: Traceable, backend: str, flags: list[str]) -> str:
    """The node at which the compiler stops, as the start of a message: it is asked once more."""
    from rlx.backends.stablehlo.export import exported
    from rlx.backends.stablehlo.trace import SCOPE, settled

    with settled():
        located = exported(found, LOWERED, located=True)
    said = _compiled(located, backend, flags)
    if isinstance(said, bytes):
        return ""
    lines = (line for line in said.splitlines() if "error:" in line or SCOPE in line)
    number = next(
        (match[1] for line in lines if (match := re.search(SCOPE + r"(\d+)", line))), None
    )
    return "" if number is None else f"{found.labels[int(number)]}: "


def signature(exported: Any) -> Signature:
    """The types of what a module is called with."""
    import jax

    (weights, inputs), _ = jax.tree.unflatten(exported.in_tree, exported.in_avals)
    return Signature(_types(weights), _types(inputs), _types(exported.out_avals))


def _types(avals: Any) -> Types:
    return tuple((name_of(one.dtype), tuple(map(int, one.shape))) for one in avals)


def _reason(said: str) -> str:
    """The first complaint in what the compiler printed, which can be long."""
    lines = [line.strip() for line in said.splitlines()]
    first = next((line for line in lines if "error:" in line), None)
    if first is None:
        return printable(next(filter(None, lines), "it said nothing"))[:300]
    return printable(first.partition("error:")[2].strip())[:300]
