"""onnxruntime opened on one device of one provider: each compiled program is a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.backends.onnxruntime import exchange, masks, slices
from rlx.backends.onnxruntime.assignment import CPU, Seat, seated, with_names
from rlx.backends.onnxruntime.elements import ask
from rlx.backends.onnxruntime.empties import has_empties, settle
from rlx.backends.onnxruntime.executable import Compiled
from rlx.backends.onnxruntime.narrow import promised
from rlx.backends.onnxruntime.pruning import prune
from rlx.errors import ExecutionError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rlx.backends.onnxruntime.provider import Placed, Provider
    from rlx.backends.protocol import CompileOptions
    from rlx.program import Program

MAX_BYTES = 2**31 - 1
"""A protobuf message can't be larger."""


class OnnxRuntime:
    """The opened engine: each compiled program is an `InferenceSession` of its own."""

    def __init__(self, engine: Any, provider: Provider, placed: Placed, options: Mapping[str, Any]):
        self._engine = engine
        self._provider = provider
        self._placed = placed
        self._options = options

    @property
    def device(self) -> str:
        """The device of the provider that was found."""
        return self._provider.device

    @property
    def version(self) -> str:
        """The engine's version, and that of the plugin where the provider is one."""
        engine = str(self._engine.__version__)
        if self._provider.plugin is None or self._placed.device is None:
            return engine
        from importlib import import_module

        plugin = getattr(import_module(self._provider.plugin), "__version__", "")
        return f"{engine} with {self._provider.plugin} {plugin}".rstrip()

    def compile(self, program: Program, options: CompileOptions) -> Compiled:
        """Make a session of the program, stamped with the lowest opset that it fits.

        Raises:
            PrecisionError: it would compute in less than the program states, or was asked for.
            ExecutionError: the provider does not take every node, and the rest would be left to
                the CPU; or the program is over protobuf's limit, or exchanges what can't be.
            ContractError: the session is not where it was to be.
        """
        provider, placed = self._provider, self._placed
        name = provider.id if provider.id != "onnxruntime-cpu" else "onnxruntime"
        promised(program, options, name, placed.computes)
        model = program.to_onnx()
        size = model.ByteSize()
        if size > MAX_BYTES:
            raise ExecutionError(
                f"{printable(program.name)} takes {size} bytes, onnxruntime reads at most "
                f"{MAX_BYTES}",
                fix="choose another backend, or store the weights in a smaller dtype.",
            )
        seat = Seat(name, provider.name, placed.settings, placed.device)
        widened = exchange.widen(model, program)
        settings = {**self._options, **provider.session}
        if provider.name != CPU:
            with_names(model, program)
            if has_empties(program):
                ask(self._engine, model, seat, settings)
                settle(model, program, self._engine, name)
            prune(model)
        else:
            masks.widen(model, program)
        slices.bound(model)
        data = model.SerializeToString()
        session = seated(self._engine, data, seat, settings)
        return Compiled(self._engine, session, program, provider.device, widened)

    def close(self) -> None:
        """Nothing is held: the sessions belong to the executables."""
