"""A compiled graph: a compiled program whose parameters are set once, for all runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from rlx.errors import InputError, printable
from rlx.session.compiled import CompiledProgram
from rlx.session.inputs import Native
from rlx.session.inputs.flat import from_bytes, from_pair, reshaped, short_dtype
from rlx.session.inputs.params import Params

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.protocol import CompileOptions, Executable
    from rlx.program import Program
    from rlx.router import Route
    from rlx.session.compiled import Run
    from rlx.session.leases import Lease


class CompiledGraph(CompiledProgram):
    """What `Session.compile` makes of a `Graph`: called with its inputs, once its params are set.

    Inputs and params may also be flat, with as many elements as declared, or lists of numbers:
    they are brought to the declared shape then.
    """

    __slots__ = ("_params",)

    def __init__(
        self,
        program: Program,
        route: Route,
        lease: Lease,
        executable: Executable,
        options: CompileOptions,
        params: tuple[str, ...],
    ):
        declared = {value.name: value for value in program.inputs if value.name in params}
        self._params = Params(
            program.name,
            [declared[name] for name in params],
            executable.run,
            Native.of(executable, str(lease.spec)),
        )
        super().__init__(program, route, lease, executable, options)

    def _entry(self, program: Program, executable: Executable) -> tuple[Program, Run]:  # noqa: ARG002 - the params have it
        """The inputs that are no parameters, and the run that adds those."""
        names = self._params.names
        view = SimpleNamespace(
            name=program.name,
            inputs=tuple(value for value in program.inputs if value.name not in names),
            outputs=program.outputs,
        )
        return cast("Program", view), self._params.run

    def set_param(self, name: str, data: Any) -> None:
        """Set a parameter for the runs that follow; setting it again replaces it.

        `data` has the declared dtype and shape, or as many elements in one dimension. It is
        copied, but for an array of the backend's own, which is taken as it is.

        Raises:
            InputError: there is no such parameter, or another dtype or shape is declared.
            SessionClosed: it was closed.
        """
        self._check_open()
        value = self._params.declared(name)
        self._params.set(name, reshaped(value, data))

    def set_param_typed(self, name: str, data: bytes, dtype: str) -> None:
        """As `set_param`, with the elements as bytes in row-major order; `dtype` as declared.

        Raises:
            InputError: there is no such parameter, another dtype, or another number of bytes.
        """
        self._check_open()
        value = self._params.declared(name)
        self._params.set(name, from_bytes(self.program.name, value, data, dtype))

    def run(self, inputs: Mapping[str, Any], *, native: bool = False) -> list[Any]:
        """Run with the inputs by name; the outputs come in the graph's order.

        Raises:
            InputError: a parameter is not set, or inputs do not fit the graph.
        """
        try:
            return super().run(inputs, native=native)
        except InputError as error:
            shaped = self._shaped(inputs)
            if shaped is None:
                raise self._explained(inputs, error) from None
        try:
            return super().run(shaped, native=native)
        except InputError as error:
            raise self._explained(inputs, error) from None

    def run_flat(self, inputs: Mapping[str, Any]) -> list[Any]:
        """As `run`, with each output in one dimension, in row-major order."""
        return [output.reshape(-1) for output in self.run(inputs)]

    def run_typed(self, inputs: Mapping[str, tuple[bytes, str]]) -> list[tuple[bytes, str]]:
        """As `run`, with inputs and outputs as bytes in row-major order, each with its dtype.

        Raises:
            InputError: as `run`, and for another number of bytes than declared.
        """
        if not hasattr(inputs, "items"):
            self.run(inputs)  # says what it takes
        declared = {value.name: value for value in self.program.inputs}
        arrays = {
            name: from_pair(self.program.name, declared[name], pair) if name in declared else pair
            for name, pair in inputs.items()
        }
        outputs = self.run(arrays)
        dtypes = [short_dtype(value.type.dtype) for value in self.program.outputs]
        return [(one.tobytes(), dtype) for one, dtype in zip(outputs, dtypes, strict=True)]

    def _shaped(self, inputs: Any) -> dict[str, Any] | None:
        """The inputs, flat ones and lists in their declared shape; None where there are none."""
        if not hasattr(inputs, "items"):
            return None
        declared = {value.name: value for value in self.program.inputs}
        shaped, changed = dict(inputs), False
        for name, data in inputs.items():
            if name in declared:
                shaped[name] = reshaped(declared[name], data)
                changed = changed or shaped[name] is not data
        return shaped if changed else None

    def _explained(self, inputs: Any, error: InputError) -> InputError:
        """The error, or one that knows better: a parameter was passed as an input."""
        for name in inputs if hasattr(inputs, "keys") else ():
            if name in self._params.names:
                return InputError(
                    f"{printable(self.program.name)}: {name!r} is a parameter, not an input",
                    fix=f"set it with set_param({name!r}, ...).",
                )
        return error

    def _stop(self, message: str, fix: str | None = None) -> None:
        super()._stop(message, fix)
        self._params.clear()

    def __repr__(self) -> str:
        missing = self._params.missing()
        left = f", not set: {', '.join(map(printable, missing))}" if missing else ""
        return f"<CompiledGraph {self}{left}>"


def compiled_of(
    source: Any,
    program: Program,
    route: Route,
    lease: Lease,
    executable: Executable,
    options: CompileOptions,
) -> CompiledProgram:
    """A `CompiledGraph` of a graph, which is consumed; a `CompiledProgram` of anything else."""
    if not hasattr(source, "consume"):
        return CompiledProgram(program, route, lease, executable, options)
    made = CompiledGraph(program, route, lease, executable, options, source.params)
    source.consume()
    return made
