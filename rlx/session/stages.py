"""Running a program in stages: one executable each, and the values between them, by name."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.errors import ExecutionError, RlxError, SessionClosed, printable
from rlx.program.stages import Stages, stages
from rlx.session.between import Between
from rlx.session.compiling import check_executable
from rlx.session.inputs import Native
from rlx.session.inputs.native import MEMBERS
from rlx.session.opening import cause_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.backends.protocol import Backend, CompileOptions, Executable
    from rlx.program import Program
    from rlx.program.cuts import Barrier


def compile_stages(
    backend: Backend, program: Program, options: CompileOptions, name: str, device: str
) -> StagedExecutable:
    """Compile each stage of a program by itself; `name` is what messages call the backend.

    Raises:
        ExecutionError: the backend failed on a stage; the message has its place.
        ContractError: it returned no executable for one, or one on another device.
        ProgramError: the program can't be cut.
    """
    cut = stages(program)
    made: list[Executable | None] = []
    try:
        for place, stage in enumerate(cut.stages):
            if stage.program is None:
                made.append(None)
                continue
            where = _where(place, len(cut.stages))
            what = f"{name} compiled {printable(program.name)}, {where},"
            try:
                one = backend.compile(stage.program, options)
            except Exception as error:  # noqa: BLE001 - raised again, with the stage's place
                _failed(error, where, f"{name} failed to compile {printable(program.name)}")
            check_executable(what, one, device)
            made.append(one)
    except BaseException as error:
        for closed in _close_all(made):
            error.add_note(f"closing a stage failed as well: {cause_text(closed)}")
        raise
    return StagedExecutable(program, cut, made, name, device)


class StagedExecutable:
    """The executables of a program's stages, run one after the other as one executable.

    A value that a stage gives is handed on as the backend gave it, where its executables take
    arrays of its own, else as a NumPy array. Runs may overlap where those of the stages may.
    """

    def __init__(
        self,
        program: Program,
        cut: Stages,
        executables: Sequence[Executable | None],
        name: str,
        device: str,
    ):
        self._name = f"{name} failed to run {printable(program.name)}"
        self._inputs = tuple(value.name for value in program.inputs)
        self._outputs = tuple(value.name for value in program.outputs)
        self._stages = cut.stages
        self._constants = dict(cut.constants)
        self._executables: tuple[Executable | None, ...] | None = tuple(executables)
        self._device = device
        held = [one for one in executables if one is not None]
        natives = [Native.of(one, device) for one in held]
        self._native = natives[0] if natives and all(n.adopt for n in natives) else Native(device)
        self._between = Between(f"{program.name} on {name}", self._native)

    @property
    def device(self) -> str:
        """The device of the stages' executables; that of the backend, where no stage has a node."""
        found = {one.device for one in self._executables or () if one is not None}
        return ",".join(sorted(found)) or self._device

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """Run each stage, as often as the barriers say.

        Raises:
            ExecutionError: a stage failed, or gave a value of another shape to its next pass.
            ContractError: a stage's outputs are not of the types that it declares.
        """
        if self._executables is None:
            raise SessionClosed("this executable was closed", fix="compile again.")
        values = dict(self._constants)
        values.update(zip(self._inputs, inputs, strict=True))
        passed: dict[int, list[Any]] = {}
        """By barrier, the values that it has given on."""
        passes = [1] * len(self._stages)
        place = 0
        while True:
            stage = self._stages[place]
            if stage.program is not None:
                values.update(self._run(place, stage.program, values, passes[place]))
            barrier = stage.barrier
            if barrier is None:
                break
            given = [values[name] for name in barrier.inputs]
            if barrier.repeat > 1:
                begin = place - barrier.stages
                if passes[place] < barrier.repeat and not (
                    barrier.fixpoint and self._between.same(given, passed[begin])
                ):
                    self._check(barrier, given, passed[begin], passes[place])
                    passes[place] += 1
                    passed[begin] = given
                    _pass(self._stages[begin].barrier, given, values)
                    place = begin + 1
                    continue
                passes[place] = 1
            passed[place] = given
            _pass(barrier, given, values)
            for name in stage.dead:
                values.pop(name, None)
            place += 1
        return self._own([values[name] for name in self._outputs], inputs)

    def _run(
        self, place: int, program: Program, values: dict[str, Any], turn: int
    ) -> dict[str, Any]:
        """The values that one stage gives."""
        assert self._executables is not None
        executable = self._executables[place]
        assert executable is not None
        try:
            outputs = executable.run([values[value.name] for value in program.inputs])
            handed = self._between.take(program.outputs, outputs)
        except Exception as error:  # noqa: BLE001 - raised again, with the stage's place
            turns = f", pass {turn}" if turn > 1 else ""
            _failed(error, _where(place, len(self._stages)) + turns, self._name)
        return dict(zip((value.name for value in program.outputs), handed, strict=True))

    def _check(self, barrier: Barrier, new: list[Any], old: list[Any], turn: int) -> None:
        """A value keeps its dtype and shape from pass to pass: stages are compiled for them."""
        for name, one, two in zip(barrier.inputs, new, old, strict=True):
            found, first = map(self._between.type, (one, two))
            if found != first:
                raise ExecutionError(
                    f"{self._name}: barrier '{printable(barrier.name)}' gives "
                    f"'{printable(name)}' to the next pass as {found} after pass {turn}, "
                    f"it was {first}",
                    fix="keep the shape of what is repeated, such as by padding.",
                )

    def _own(self, outputs: list[Any], inputs: Sequence[Any]) -> list[Any]:
        """The outputs, each in memory of its own: barriers give on what they are given."""
        taken = {id(value) for value in (*inputs, *self._constants.values())}
        made = []
        for value in outputs:
            made.append(self._between.copy(value) if id(value) in taken else value)
            taken.add(id(value))
        return made

    def close(self) -> None:
        """Close every stage's executable; calling it again does nothing.

        Raises:
            Exception: whatever the first one that fails raises, once all are closed.
        """
        held, self._executables = self._executables, None
        failed = _close_all(held or ())
        if failed:
            for other in failed[1:]:
                failed[0].add_note(f"closing another stage failed as well: {cause_text(other)}")
            raise failed[0]

    def __getattr__(self, name: str) -> Any:
        """Arrays of the backend's own: its executables' members, where all of them have these."""
        if name in MEMBERS and "_native" in self.__dict__:
            found = getattr(self._native, name)
            if found is not None:
                return found
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _pass(barrier: Barrier | None, given: list[Any], values: dict[str, Any]) -> None:
    assert barrier is not None
    values.update((name, one) for name, one in zip(barrier.outputs, given, strict=True) if name)


def _where(place: int, of: int) -> str:
    return f"stage {place + 1} of {of}"


def _failed(error: Exception, where: str, what: str) -> NoReturn:
    """Raise the error with the stage's place: of its own class where that is one of rlx."""
    if isinstance(error, RlxError):
        made = copy.copy(error)
        made.message = f"{where}: {error.message}"
        raise made from error
    raise ExecutionError(f"{what}, {where}: {cause_text(error)}") from error


def _close_all(executables: Sequence[Executable | None]) -> list[Exception]:
    """Close what there is, and return what failed."""
    failed = []
    for one in executables:
        try:
            if one is not None:
                one.close()
        except Exception as error:  # noqa: BLE001 - raised or noted by the caller
            failed.append(error)
    return failed
