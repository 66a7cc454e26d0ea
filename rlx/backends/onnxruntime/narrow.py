"""For providers that compute in less than a program may state: refused, unless it is allowed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from rlx.backends.precision import FLOATS, as_stated
from rlx.errors import PrecisionError, printable

if TYPE_CHECKING:
    from rlx.backends.protocol import CompileOptions
    from rlx.program import Program

CODES = {"float16": "f16", "bfloat16": "bf16"}
_log = logging.getLogger("rlx")


def promised(
    program: Program,
    options: CompileOptions,
    engine: str,
    computes: str | None,
    *,
    building: bool = False,
) -> None:
    """Check that what the engine computes in keeps the promise; `computes` None: as stated.

    TF32 (`tf32`) is what takes the place of float32 alone. Under the policy `warn` it is said, and
    under `allow` it is so. `building`: an artifact is made, of which no policy is asked.

    Raises:
        PrecisionError: the program states more, and the policy is `error`.
    """
    if computes is None:
        as_stated(program, options, engine, building=building)
        return
    held = {dtype for one in program.requirements.signatures for _, dtype in one.types}
    finer = held & (set(FLOATS) - {computes} if computes in CODES else {"float32"})
    asked = CODES.get(computes)
    if not finer or (asked is not None and options.precision == asked):
        return
    what = (
        f"{engine} computes {printable(program.name)} in {computes}, "
        f"it states {' and '.join(sorted(finer))}"
    )
    if options.precision_policy == "error":
        asking = [f"ask for precision {asked}"] if asked else []
        if not building:
            asking.append("set precision_policy to warn or allow")
        other = "target" if building else "backend"
        raise PrecisionError(what, fix=f"{', '.join(asking)}, or choose another {other}.")
    if options.precision_policy == "warn":
        _log.warning("%s", what)
