"""Compiling a program on an opened backend, and checking that it is what was asked for."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from rlx.errors import ContractError, ExecutionError, PrecisionError, RlxError, printable
from rlx.session.opening import cause_text

if TYPE_CHECKING:
    from rlx.backends.protocol import CompileOptions, Executable
    from rlx.program import Program
    from rlx.session.leases import Lease

MEMBERS = ("device", "run", "close")
"""What every executable has: the protocol's members."""
_log = logging.getLogger("rlx")


def compile_on(
    lease: Lease, program: Program, options: CompileOptions
) -> tuple[Executable, CompileOptions]:
    """The executable, and the options that it was compiled with in the end.

    Where the backend refuses the precision and the policy is `warn` or `allow`, the program is
    compiled in the precision that it states itself.

    Raises:
        PrecisionError: the backend refuses the precision, under the policy `error`.
        ContractError: it returned no executable, or one on another device.
        ExecutionError: it failed.
    """
    try:
        made = _compile(lease, program, options)
    except PrecisionError as error:
        if options.precision_policy == "error" or options.precision is None:
            raise
        if options.precision_policy == "warn":
            _log.warning(
                "%s: %s. Computing as the program says", printable(program.name), error.message
            )
        options = replace(options, precision=None)
        made = _compile(lease, program, options)
    check_executable(f"{lease.id} compiled {printable(program.name)}", made, lease.spec.name)
    return made, options


def _compile(lease: Lease, program: Program, options: CompileOptions) -> Executable:
    try:
        return lease.backend.compile(program, options)
    except RlxError:
        raise
    except Exception as error:
        raise ExecutionError(
            f"{lease.id} failed to compile {printable(program.name)}: {cause_text(error)}"
        ) from error


def check_executable(what: str, made: Executable, promised: str) -> None:
    """What was promised: an executable, on the device that was asked for.

    `what` is how the message begins: who made it, and of what.

    Raises:
        ContractError: it is none, or on another device; what can be closed is closed.
    """
    try:
        missing = [name for name in MEMBERS if not hasattr(made, name)]
        device = None if missing else made.device
    except Exception as error:
        raise ContractError(f"{what}, whose device can't be read: {cause_text(error)}") from error
    if missing:
        kind = type(made).__name__
        raise ContractError(f"{what} to {kind}, which has no {' and no '.join(missing)}")
    if device != promised:
        broken = ContractError(f"{what} for {device!r:.60}, {promised} was asked for")
        try:
            made.close()
        except Exception as error:  # noqa: BLE001 - the broken contract matters more
            broken.add_note(f"closing it failed as well: {cause_text(error)}")
        raise broken
