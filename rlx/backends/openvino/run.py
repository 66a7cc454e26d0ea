"""One compiled model: tensors are bound to requests once, and these are kept for later calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rlx.backends.openvino.integers import WIDE, bounded, check_fit
from rlx.errors import ContractError, ExecutionError, SessionClosed, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rlx.backends.protocol import Array
    from rlx.program import Program, Value, ValueType
    from rlx.program.types import Interface

PLAIN = frozenset(
    {"bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64"}
    | {"uint8", "uint16", "uint32", "uint64"}
)
"""dtypes that NumPy and OpenVINO share."""
BYTES = {"bfloat16": "bfloat16", "float8e4m3fn": "float8_e4m3fn", "float8e5m2": "float8_e5m2"}
"""dtypes that OpenVINO exchanges under another name, and ml_dtypes' names for them."""


def check_exchanged(program: Program, id: str) -> None:
    """Inputs and outputs are tensors of dtypes that NumPy and OpenVINO can exchange exactly.

    Raises:
        ExecutionError: one is not.
    """
    for value in (*program.inputs, *program.outputs):
        if value.type.kind != "tensor" or value.type.dtype not in PLAIN | BYTES.keys():
            raise ExecutionError(
                f"{id} can't exchange {printable(value.name)}, which is {value.type.dtype}",
                fix="choose another backend: run `rlx explain --all`.",
            )


_DIRECT = """
def make(request):
    def another():
        made, _, views = request()
        return made.infer, *views

    free = [another()]
    take, give = free.pop, free.append

    def call(inputs):
        try:
            taken = take()
        except IndexError:  # others are running
            taken = another()
        infer, {views} = taken
        {filled}
        found = list(infer().values())
        give(taken)
        return found

    return call
"""


class Compiled:
    """A compiled model, and the requests that are free; several threads may run it at once."""

    def __init__(
        self,
        compiled: Any,
        program: Interface,
        id: str,
        devices: Mapping[str, str],
        bounds: frozenset[str] = frozenset(),
    ):
        self._compiled = compiled
        self._devices = devices
        given = _taken(program.inputs, compiled.inputs)
        made = program.outputs
        if len(made) != len(compiled.outputs):
            raise ContractError(f"openvino made {len(compiled.outputs)} outputs of {len(made)}")
        self._places = None if given == program.inputs else tuple(map(program.inputs.index, given))
        """Where each of its inputs is among the program's; None: all are, in the same order."""
        self._wide = tuple((i, v) for i, v in enumerate(given) if v.type.dtype in WIDE)
        self._bounds = bounds
        """The names of inputs of which the largest numbers are all alike."""
        self._id = id
        self._views = tuple(_view(value.type) for value in given)
        self._casts = tuple(_view(value.type) for value in made)
        self._made = tuple(_empty(value) for value in made)
        """Outputs that hold nothing: OpenVINO takes some of their sizes for others."""
        self._plain = all(dtype is None for dtype in (*self._casts, *self._made))
        self._static = all(_is_static(value.type) for value in given)
        self._free: list[tuple[Any, list[Any], list[Any]]] = []
        simple = self._static and self._plain and not self._wide and self._places is None
        self.run: Callable[[Sequence[Array]], Sequence[Array]] = (
            self._direct() if simple else self._run
        )
        """Runs once: inputs in the program's order, outputs in its order, copied both ways."""

    @property
    def device(self) -> str:
        """Read from the live model."""
        used = self._compiled.get_property("EXECUTION_DEVICES")
        return ",".join(self._devices.get(name.partition(".")[0], name) for name in used)

    def _request(self) -> tuple[Any, list[Any], list[Any]]:
        """A request, its input tensors, and NumPy's views of their memory."""
        request = self._compiled.create_infer_request()
        tensors = [request.get_input_tensor(place) for place in range(len(self._views))]
        if not self._static:
            return request, tensors, [None] * len(tensors)
        return request, tensors, [self._seen(place, one) for place, one in enumerate(tensors)]

    def _seen(self, place: int, tensor: Any) -> Any:
        dtype = self._views[place]
        return tensor.data if dtype is None else tensor.data.view(dtype)

    def _direct(self) -> Callable[[Sequence[Array]], Sequence[Array]]:
        """As `_run`, where there is nothing to check or to change: each microsecond is seen.

        The source is put together from the number of inputs alone.
        """
        views = ", ".join(f"v{place}" for place in range(len(self._views)))
        filled = "".join(f"v{place}[...], " for place in range(len(self._views)))
        source = _DIRECT.format(views=views, filled=f"{filled}= inputs" if filled else "")
        space: dict[str, Any] = {}
        exec(compile(source, "<one call of openvino>", "exec"), space)
        made: Callable[[Sequence[Array]], Sequence[Array]] = space.pop("make")(self._request)
        return made

    def _run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        if self._places is not None:
            inputs = [inputs[place] for place in self._places]
        if self._bounds:
            inputs = list(inputs)
        for place, value in self._wide:
            if value.name in self._bounds:
                inputs[place] = bounded(inputs[place])  # type: ignore[index]  # a list
            check_fit(inputs[place], value, self._id)
        try:
            taken = self._free.pop()
        except IndexError:
            taken = self._request()
        request, tensors, views = taken
        try:
            if not self._static:
                self._resize(tensors, views, inputs)
            for view, value in zip(views, inputs, strict=True):
                view[...] = value
            found = list(request.infer().values())
        finally:
            self._free.append(taken)
        if self._plain:
            return found
        return [
            empty.copy() if empty is not None else one if dtype is None else one.view(dtype)
            for one, dtype, empty in zip(found, self._casts, self._made, strict=True)
        ]

    def _resize(self, tensors: list[Any], views: list[Any], inputs: Sequence[Array]) -> None:
        """Give each tensor the size of its input."""
        for place, value in enumerate(inputs):
            view = views[place]
            if view is None or view.shape != value.shape:
                tensors[place].shape = value.shape
                views[place] = self._seen(place, tensors[place])

    def close(self) -> None:
        """Let the model and its requests go."""
        self.run = _closed
        self._free = []


class Empty:
    """A program whose outputs all hold nothing: nothing is computed."""

    def __init__(self, program: Program, device: str):
        self._outputs = program.outputs
        self.device = device
        self._call: Callable[[Sequence[Array]], Sequence[Array]] = self._run

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """The outputs, whatever the inputs."""
        return self._call(inputs)

    def _run(self, inputs: Sequence[Array]) -> Sequence[Array]:  # noqa: ARG002 - as any run
        return [_empty(value) for value in self._outputs]

    def close(self) -> None:
        """Nothing is held."""
        self._call = _closed


def is_empty(value: Value) -> bool:
    """Whether it is known to hold no elements."""
    return _is_static(value.type) and 0 in (value.type.shape or ())


def _empty(value: Value) -> Array | None:
    """An array without elements, of the value's sizes and dtype; None where it holds some."""
    if not is_empty(value):
        return None
    return np.empty(value.type.shape or (), _view(value.type) or value.type.dtype)


def _taken(inputs: Sequence[Value], ports: Sequence[Any]) -> tuple[Value, ...]:
    """The program's inputs in the model's order; the model lacks those that nothing reads."""
    by_name = {value.name: value for value in inputs}
    found = []
    for port in ports:
        names = port.get_names() & by_name.keys()
        if len(names) != 1:
            raise ContractError(f"openvino made an input named {sorted(port.get_names())}")
        found.append(by_name[names.pop()])
    return tuple(found)


def _view(kind: ValueType) -> Any:
    """The dtype that OpenVINO's bytes are seen as; None where it is theirs as well."""
    if kind.dtype in PLAIN:
        return None
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, BYTES[kind.dtype]))


def _is_static(kind: ValueType) -> bool:
    return kind.shape is not None and all(isinstance(size, int) for size in kind.shape)


def _closed(inputs: Sequence[Array]) -> NoReturn:
    raise SessionClosed(
        f"this executable was closed, called with {len(inputs)} inputs", fix="compile again."
    )
