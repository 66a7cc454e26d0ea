"""For engines that compute exactly as the program says: refuses a precision that is another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.errors import PrecisionError, printable
from rlx.program.precisions import FLOATS, STATED, others

if TYPE_CHECKING:
    from rlx.backends.protocol import CompileOptions
    from rlx.program import Program

__all__ = ["FLOATS", "STATED", "as_stated"]


def as_stated(
    program: Program, options: CompileOptions, engine: str, *, building: bool = False
) -> None:
    """Check that computing as the program says is computing as asked.

    `building`: an artifact is made, where no policy lets it be of another precision.

    Raises:
        PrecisionError: some operand is of another floating-point dtype.
    """
    asked = options.precision
    if asked is None:
        return
    held = {dtype for one in program.requirements.signatures for _, dtype in one.types}
    other = others(held, asked)
    if other:
        raise PrecisionError(
            f"{engine} computes {printable(program.name)} as the program says, "
            f"in {' and '.join(other)}; {asked} was asked for",
            fix=f"export the program in {asked}, or leave the precision unset."
            if building
            else f"export the program in {asked}, leave the precision unset, "
            "or set precision_policy to warn or allow.",
        )
