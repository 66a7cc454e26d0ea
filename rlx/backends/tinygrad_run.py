"""A program on tinygrad: recorded once for each set of sizes, then replayed in the same memory."""

from __future__ import annotations

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
        out = [(*self._described(one), one) for one in outputs]

        def replay(inputs: Sequence[Array]) -> list[Array]:
            for buffer, value in zip(into, inputs, strict=True):
                place.write(buffer, value)
            run(uops, {})
            return [_read(place, *one) for one in out]

        return replay

    def _results(self, outputs: Sequence[Any]) -> list[Array]:
        """The outputs, computed now."""
        from tinygrad import Tensor

        pending = [one for one in outputs if one.numel()]
        if pending:
            Tensor.realize(*pending)
        return [_read(self._place, *self._described(one), one) for one in outputs]

    def _described(self, tensor: Any) -> tuple[Any, Any, tuple[int, ...]]:
        """The memory of an output, its dtype and shape; checked to be on the device."""
        shape = tuple(int(size) for size in tensor.shape)
        if not tensor.numel():
            return None, _numpy(tensor.dtype), shape
        buffer = tensor.uop.buffer
        self._used.add(buffer.device)
        if buffer.device != self._place.name:
            raise ContractError(f"tinygrad ran on {buffer.device}, asked for {self._place.name}")
        return buffer, _numpy(tensor.dtype), shape

    def close(self) -> None:
        """Let the program and its memory go."""
        self._call = _closed
        self._recorded = {}
        self._runner = None


def _read(place: Place, buffer: Any, dtype: Any, shape: tuple[int, ...], tensor: Any) -> Array:
    """The output; the tensor is what keeps its memory."""
    del tensor
    return np.empty(shape, dtype) if buffer is None else place.read(buffer, dtype, shape)


def _dtype(name: str) -> Any:
    from tinygrad import dtypes

    return getattr(dtypes, name)


def _numpy(dtype: Any) -> Any:
    """NumPy's dtype, of ml_dtypes where NumPy has none."""
    from tinygrad import dtypes
    from tinygrad.dtype import _to_np_dtype

    if dtype == dtypes.bfloat16:
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(_to_np_dtype(dtype))


def _closed(inputs: Sequence[Array]) -> NoReturn:
    raise SessionClosed(
        f"this executable was closed, called with {len(inputs)} inputs", fix="compile again."
    )
