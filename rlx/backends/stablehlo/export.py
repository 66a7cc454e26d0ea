"""Exporting: a program becomes a StableHLO module for one platform, the same bytes each time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rlx.backends.stablehlo.trace import Traceable, refused, settled, traceable
from rlx.errors import RlxError, UnsupportedFeature, printable

if TYPE_CHECKING:
    import numpy as np

    from rlx.program import Program

NAME = "program"
"""What the exported function is called; its program's name is the artifact's to say."""
_VERSION = re.compile(rb"ML\xefR\rStableHLO_v([0-9.]+)\x00")


def export(
    program: Program, device: str, platform: str
) -> tuple[Any, tuple[np.ndarray[Any, Any], ...]]:
    """jax's Exported for a platform, and its weights: what it is called with before its inputs.

    `device` is what kernels know it as. Sizes that the program leaves open are symbols of the
    module. Products are in full precision whatever calls it says, and the module has no
    locations: it is the same in every process.

    Raises:
        UnsupportedFeature: the program can't be exported; the message names the input or the node.
    """
    with settled():
        found = traced(program, device)
        return lowered(program, found, platform), found.weights


def traced(program: Program, device: str, *, dynamic: bool = True) -> Traceable:
    """The program as one function; without `dynamic`, sizes that it leaves open are refused.

    Raises:
        UnsupportedFeature: it can't be one; the message names the input or the node.
    """
    open_sizes = _open_sizes(program)
    if open_sizes and not dynamic:
        raise _dynamic(program, open_sizes, "this target has static sizes only")
    return traceable(program, device, _shapes(program))


def lowered(program: Program, found: Traceable, platform: str) -> Any:
    """jax's Exported of a program's function.

    Raises:
        UnsupportedFeature: it can't be exported; the message names the node.
    """
    try:
        return exported(found, platform)
    except Exception as error:
        open_sizes = _open_sizes(program)
        if open_sizes:
            raise _dynamic(program, open_sizes, _first_line(error)) from error
        raise refused(program, ValueError(_first_line(error))) from error


def exported(found: Traceable, platform: str, *, located: bool = False) -> Any:
    """jax's Exported of a function; without locations, unless they are wanted."""
    import jax
    from jax import export as exporting

    def main(weights: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        return found.function(weights, inputs)

    main.__name__ = main.__qualname__ = NAME
    made = exporting.export(jax.jit(main, keep_unused=True), platforms=[platform])(
        [_of(x) for x in found.weights], [_of(x) for x in found.inputs]
    )
    return made if located else _stripped(made)


def _of(x: Any) -> Any:
    """The dtype and the shape of an array."""
    import jax

    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def _shapes(program: Program) -> list[tuple[Any, ...]]:
    """The inputs' shapes, sizes that are left open as jax's symbols, one scope for all.

    A symbol's name of the program may not be one that jax reads, so each has a name by number.
    """
    from jax import export as exporting

    scope = exporting.SymbolicScope()
    symbols: dict[Any, Any] = {}
    shapes = []
    for at, value in enumerate(program.inputs):
        made: list[Any] = []
        for axis, size in enumerate(value.type.shape or ()):
            if not isinstance(size, int):
                key = (at, axis) if size is None else size
                if key not in symbols:
                    name = f"s{len(symbols)}"
                    (symbols[key],) = exporting.symbolic_shape(name, scope=scope)
                made.append(symbols[key])
            else:
                made.append(size)
        shapes.append(tuple(made))
    return shapes


def _open_sizes(program: Program) -> list[str]:
    """The inputs with sizes that are left open, as text."""
    return [
        f"{printable(value.name)} {list(value.type.shape)}"
        for value in program.inputs
        if value.type.shape is not None
        and any(not isinstance(size, int) for size in value.type.shape)
    ]


def _dynamic(program: Program, open_sizes: Sequence[str], why: str) -> UnsupportedFeature:
    return UnsupportedFeature(
        f"{printable(program.name)} leaves sizes of its inputs open ({', '.join(open_sizes)}), "
        f"and can't be exported so: {printable(why):.300}",
        fix="give its inputs fixed sizes, such as with `rlx build --size SYMBOL=N`.",
    )


def _first_line(error: Exception) -> str:
    said = error.message if isinstance(error, RlxError) else str(error)
    return next(iter(said.strip().splitlines()), type(error).__name__)


def serialised(program: Program, exported: Any) -> bytes:
    """The module as jax.export writes it.

    Raises:
        UnsupportedFeature: an input, a weight or an output has a dtype that it has no name for.
    """
    try:
        return bytes(exported.serialize())
    except KeyError as error:
        raise refused(program, ValueError(f"jax.export has no {error.args[0]}")) from error


def _stripped(exported: Any) -> Any:
    """The same without locations: they name the files and the lines that traced it."""
    from jax.extend.mlir import ir, passmanager
    from jax.extend.mlir.dialects import stablehlo

    data = exported.mlir_module_serialized
    version = _VERSION.match(data)
    assert version is not None  # a portable artifact begins so
    context = ir.Context()
    with context:
        module = stablehlo.deserialize_portable_artifact(context, data)
        passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(module.operation)
        plain = stablehlo.serialize_portable_artifact(module, version[1].decode())
    return replace(exported, mlir_module_serialized=plain)


def text(exported: Any) -> str:
    """The module as text, without locations."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo

    context = ir.Context()
    with context:
        module = stablehlo.deserialize_portable_artifact(context, exported.mlir_module_serialized)
        return str(module.operation.get_asm(enable_debug_info=False))
