"""A program on tinygrad: recorded once for each set of sizes, then replayed in the same memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rlx.backends import tinygrad_place
from rlx.backends.tinygrad_runner import Runner, check_exchanged
from rlx.errors import ContractError, ExecutionError, SessionClosed, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rlx.backends.protocol import Array
    from rlx.backends.tinygrad_place import Place
    from rlx.program import Program

MOST = 16
"""So many sets of sizes are recorded; the oldest is forgotten for a new one."""


class Compiled:
    """A program, and what was recorded of it; one thread runs at a time."""

    def __init__(self, program: Program, place: Place, id: str, device: str):
        check_exchanged(program, id)
        self._id, self._place, self._device = id, place, device
        self._program = program
        self._names = [value.name for value in program.inputs]
        self._given = [value.type.dtype for value in program.inputs]
        self._outputs = [(value.name, value.type.dtype) for value in program.outputs]
        self._recordable = True
        """False once values were read that come from inputs: a recording would keep them."""
        self._recorded: dict[object, Callable[[Sequence[Array]], list[Array]]] = {}
        with tinygrad_place.LOCK, place.entered():
            self._runner: Any = Runner(program, place, id)
            self._used = set(self._runner.devices) or {place.tensor((1,), _dtype("bool")).device}
        self._call: Callable[[Sequence[Array]], Sequence[Array]] = self._run

    @property
    def device(self) -> str:
        """Read from the constants, inputs and outputs that there are."""
        foreign = sorted(map(str, self._used - {self._place.name}))
        return ",".join(foreign).lower() if foreign else self._device

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Run once: inputs in the program's order, outputs in its order, copied both ways."""
        return self._call(inputs)

    def _run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        sizes = tuple([value.shape for value in inputs])
        with tinygrad_place.LOCK:
            recorded = self._recorded.get(sizes)
            if recorded is not None:
                return recorded(inputs)
            with self._place.entered():
                return self._first(sizes, inputs)

    def _first(self, sizes: object, inputs: Sequence[Array]) -> list[Array]:
        """Run with sizes that are not recorded, and record them where that is possible."""
        runner = self._runner
        runner.forget()
        try:
            tensors = self._tensors(inputs)
            outputs = self._traced(tensors)  # reads what the program needs of its constants
            if runner.depends_on_data(self._names):
                self._recordable = False
            if not self._recordable or not all(one.numel() for one in tensors):
                return self._results(outputs)
            replay = self._record(tensors)
            if replay is None:  # what was begun may be half recorded: begin anew
                self._recordable = False
                return self._first(sizes, inputs)
            if len(self._recorded) >= MOST:
                self._recorded.pop(next(iter(self._recorded)))
            self._recorded[sizes] = replay
            return replay(inputs)
        finally:
            runner.forget()

    def _tensors(self, inputs: Sequence[Array]) -> list[Any]:
        """The inputs in memory of the device."""
        made = []
        for dtype, value in zip(self._given, inputs, strict=True):
            tensor = self._place.tensor(value.shape, _dtype(dtype))
            if value.size:
                self._place.write(tensor.uop.buffer, value)
            made.append(tensor)
        return made

    def _traced(self, tensors: Sequence[Any]) -> list[Any]:
        """The outputs in order, not computed yet, each in memory of its own when it is."""
        from tinygrad import Tensor
        from tinygrad.dtype import dtypes

        found = self._runner(dict(zip(self._names, tensors, strict=True)))
        made = []
        for name, dtype in self._outputs:
            value = found[name]
            if not isinstance(value, Tensor):
                raise ExecutionError(
                    f"{self._id} gave {type(value).__name__} for {printable(name)}, not a tensor",
                    fix="choose another backend: run `rlx explain --all`.",
                )
            if value.dtype in dtypes.weaks:
                value = value.cast(_dtype(dtype))
            if value.dtype != _dtype(dtype):
                raise ExecutionError(
                    f"{self._id} gave {value.dtype.name} for {printable(name)}, which is {dtype}",
                    fix="choose another backend: run `rlx explain --all`.",
                )
            if value.uop.device is None:
                value = value.clone(self._place.name)
            made.append(value.contiguous())
        return made

    def _record(self, tensors: Sequence[Any]) -> Callable[[Sequence[Array]], list[Array]] | None:
        """What replays the program in the tensors' memory; None where nothing is to be replayed."""
        from tinygrad import TinyJit
        from tinygrad.engine.jit import JitError

        recorder = TinyJit(lambda given: self._traced(given))
        recorder.cnt = 1  # record at once: constants are in memory already
        try:
            outputs = recorder(list(tensors))
        except JitError:
            return None
        run, place = recorder.captured, self._place
        assert run is not None
        uops = [one.uop.base for one in tensors]
        into = [one.uop.base.buffer for one in tensors]
        made = self._described(outputs)

        def replay(inputs: Sequence[Array]) -> list[Array]:
            for buffer, value in zip(into, inputs, strict=True):
                place.write(buffer, value)
            run(uops, {})
            return [one.read(place) for one in made]

        return replay

    def _results(self, outputs: Sequence[Any]) -> list[Array]:
        """The outputs, computed now."""
        from tinygrad import Tensor

        pending = [one for one in outputs if one.numel()]
        if pending:
            Tensor.realize(*pending)
        return [one.read(self._place) for one in self._described(outputs)]

    def _described(self, tensors: Sequence[Any]) -> list[_Output]:
        """The memory of each output, its dtype and shape; checked to be on the device."""
        found = []
        for (_, dtype), tensor in zip(self._outputs, tensors, strict=True):
            shape = tuple(int(size) for size in tensor.shape)
            buffer = tensor.uop.buffer.ensure_allocated() if tensor.numel() else None
            if buffer is not None:
                self._used.add(buffer.device)
                if buffer.device != self._place.name:
                    wanted = self._place.name
                    raise ContractError(f"tinygrad ran on {buffer.device}, asked for {wanted}")
            found.append(_Output(tensor, buffer, np.dtype(dtype), shape))
        return found

    def close(self) -> None:
        """Let the program and its memory go."""
        self._call = _closed
        self._recorded = {}
        self._runner = None


@dataclass(frozen=True, slots=True)
class _Output:
    """An output on the device; the tensor is what keeps its memory; an empty one has none."""

    tensor: Any
    buffer: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def read(self, place: Place) -> Array:
        if self.buffer is None:
            return np.empty(self.shape, self.dtype)
        return place.read(self.buffer, self.dtype, self.shape)


def _dtype(name: str) -> Any:
    from tinygrad import dtypes

    return getattr(dtypes, name)


def _closed(inputs: Sequence[Array]) -> NoReturn:
    raise SessionClosed(
        f"this executable was closed, called with {len(inputs)} inputs", fix="compile again."
    )
