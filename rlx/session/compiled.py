"""A compiled program that can be called: what `Session.compile` returns."""

from __future__ import annotations

import logging
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.errors import ExecutionError, RlxError, SessionClosed, printable
from rlx.session import leases
from rlx.session.closing import Closing
from rlx.session.inputs import Door, Native
from rlx.session.opening import cause_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rlx.backends.protocol import CompileOptions, Executable
    from rlx.device import DeviceSpec
    from rlx.program import Program
    from rlx.router import Route

    Run = Callable[[Sequence[Any]], Sequence[Any]]

_log = logging.getLogger("rlx")
_of_parents: list[Executable] = []
"""In a forked child: kept, since freeing one there may wait for threads that did not come along."""


class CompiledProgram(Closing):
    """A program on one backend and device, until `close`; a `with` block closes it.

    It holds a lease of its own, so it may outlive the session that compiled it. Names, dtypes,
    numbers of dimensions and sizes are checked before the backend sees an input, and nothing is
    cast. It may be called from several threads at once where its backend's `run` may be: those
    that ship with rlx allow it.
    """

    __slots__ = (
        "__weakref__",
        "_call",
        "_call_native",
        "_end",
        "_lease",
        "_order",
        "options",
        "program",
        "route",
    )

    def __init__(
        self,
        program: Program,
        route: Route,
        lease: leases.Lease,
        executable: Executable,
        options: CompileOptions,
    ):
        self.program = program
        self.route = route
        """The decision by which this backend was chosen."""
        self.options = options
        """What was asked of the compilation, such as its precision."""
        takes, run = self._entry(program, executable)
        native = Native.of(executable, str(lease.spec))
        door = Door(takes, run, _failure(lease.id, program.name), lease.id, native)
        self._call: Callable[..., tuple[Any, ...]] = door.call
        self._call_native: Callable[..., tuple[Any, ...]] = door.call_native
        self._order = door.order
        self._lease = lease
        self._end = weakref.finalize(self, _close_quietly, executable, str(self))
        self._end.atexit = False  # leases ends it before its backend closes
        leases.add_user(self)

    def _entry(self, program: Program, executable: Executable) -> tuple[Program, Run]:
        """What a call is checked against, and what then runs."""
        return program, executable.run

    @property
    def backend(self) -> str:
        """The id of the backend that runs it."""
        return self._lease.id

    @property
    def device(self) -> DeviceSpec:
        """The device that it runs on, with its index."""
        return self._lease.spec

    def __call__(self, *inputs: Any, native: bool = False) -> tuple[Any, ...]:
        """Run with the inputs by position: `y, = model(x)`.

        Inputs are NumPy arrays, or anything with `__dlpack__` or `__array__`; a sequence is a
        list, an absent optional None. Outputs are NumPy arrays, or the backend's own with `native`.

        Raises:
            InputError: inputs do not fit the program; everything that is wrong is named.
            ExecutionError: the backend failed.
            ContractError: its outputs are not what the program declares.
            SessionClosed: it was closed.
        """
        if native:
            return self._call_native(*inputs)
        return self._call(*inputs)

    def run(self, inputs: Mapping[str, Any], *, native: bool = False) -> list[Any]:
        """Run with the inputs by name; the outputs come in the program's order."""
        if native:
            return list(self._call_native(*self._order(inputs)))
        return list(self._call(*self._order(inputs)))

    def run_named(self, inputs: Mapping[str, Any], *, native: bool = False) -> dict[str, Any]:
        """Run with the inputs by name; the outputs come by name."""
        names = [value.name for value in self.program.outputs]
        return dict(zip(names, self.run(inputs, native=native), strict=True))

    def close(self) -> None:
        """Release what it holds; calling it again does nothing.

        Raises:
            ExecutionError: the backend failed to close it; it can't be used all the same.
        """
        what, detached = str(self), self._end.detach()
        if detached is None:
            return
        self._stop(f"{what} is closed")
        try:
            detached[2][0].close()
        except Exception as error:
            raise ExecutionError(
                f"closing {what} failed: {cause_text(error)}", fix="see the cause above."
            ) from error
        finally:
            self._lease.close()

    def forked(self) -> None:
        """In a forked child: engines do not survive a fork, so calling it is an error there."""
        what, detached = str(self), self._end.detach()
        if detached is not None:
            _of_parents.append(detached[2][0])
            self._stop(
                f"{what} was compiled before this process forked", "compile it in this process."
            )

    def _check_open(self) -> None:
        if not self._end.alive:
            self._order({})  # says why: it is closed, or of a parent process

    def _stop(self, message: str, fix: str | None = None) -> None:
        def closed(*_: Any) -> NoReturn:
            raise SessionClosed(message, fix=fix)

        self._call = self._call_native = self._order = closed

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} can't be pickled or copied. "
            "Fix: send its program, and compile that in the process that runs it."
        )

    def __str__(self) -> str:
        return f"{printable(self.program.name)} on {self.device} ({self.backend})"

    def __repr__(self) -> str:
        return f"<CompiledProgram {self}>"


def _failure(backend: str, program: str) -> Callable[[Exception], RlxError]:
    def failure(error: Exception) -> RlxError:
        return ExecutionError(f"{backend} failed to run {printable(program)}: {cause_text(error)}")

    return failure


def _close_quietly(executable: Executable, what: str) -> None:
    try:
        executable.close()
    except Exception as error:  # noqa: BLE001 - nobody is left to raise it to
        _log.error("closing %s failed: %s", what, cause_text(error))
