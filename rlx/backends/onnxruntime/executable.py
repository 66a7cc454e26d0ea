"""One session as an executable: arrays of ordinary dtypes go in and out without a detour."""

from __future__ import annotations

import copy
import ctypes
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.errors import ExecutionError, SessionClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rlx.backends.protocol import Array
    from rlx.program import Program, ValueType

FOREIGN = frozenset(
    {"bfloat16", "float4e2m1", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"}
    | {"float8e8m0", "int2", "int4", "uint2", "uint4"}
)
"""dtypes that the engine computes with, but can't exchange as NumPy arrays: bfloat16 is refused,
and float8e4m3fn comes back as uint8."""


class Compiled:
    """One session; arrays of ordinary dtypes go in and out without a detour."""

    def __init__(self, engine: Any, session: Any, program: Program, device: str):
        self._engine = engine
        self.device = device
        """Where every node of the session was found to be."""
        self._session = session
        self._names = tuple(value.name for value in program.inputs)
        outputs = [value.name for value in program.outputs]
        self._outputs = list(dict.fromkeys(outputs))
        places = [self._outputs.index(name) for name in outputs]
        self._repeated = places if len(places) > len(self._outputs) else None
        """Where a value is several outputs, the engine gives it once: each one's place there."""
        read = {value.name for value in session.get_inputs()}
        self._places = [at for at, name in enumerate(self._names) if name in read]
        """The inputs that the session has: where nothing reads one, it may have been taken out."""
        self._names = tuple(self._names[at] for at in self._places)
        given = [program.inputs[at].type for at in self._places]
        made = [value.type for value in program.outputs]
        self._call: Callable[[Sequence[Array]], Sequence[Array]] = self._direct
        if any(_element(kind.dtype) in FOREIGN for kind in made):
            self._call = self._exchange
            wrapped = [kind.dtype for kind in (*given, *made) if kind.kind != "tensor"]
            wrapped += [kind.dtype for kind in given if kind.dtype == "string"]
            if wrapped:
                raise ExecutionError(
                    f"onnxruntime can't give back {_foreign(made)} beside {wrapped[0]}",
                    fix="choose another backend for this program.",
                )
        elif any(_element(kind.dtype) in FOREIGN for kind in given):
            self._call = self._accept
            if any(kind.kind != "tensor" and _element(kind.dtype) in FOREIGN for kind in given):
                raise ExecutionError(
                    f"onnxruntime can't take {_foreign(given)} from NumPy",
                    fix="choose another backend for this program.",
                )

        if len(self._places) < len(program.inputs):
            self._call = partial(self._some, self._call)

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Run once: inputs in the program's order, outputs in its order."""
        return self._call(inputs)

    def _some(
        self, call: Callable[[Sequence[Array]], Sequence[Array]], inputs: Sequence[Array]
    ) -> Sequence[Array]:
        return call([inputs[at] for at in self._places])

    def _direct(self, inputs: Sequence[Array]) -> Sequence[Array]:
        session = self._session or _closed(inputs)
        outputs: Sequence[Array] = session.run(
            self._outputs, dict(zip(self._names, inputs, strict=True))
        )
        return outputs if self._repeated is None else _repeat(outputs, self._repeated)

    def _accept(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """As `_direct`, with the inputs that NumPy lacks as the engine's own values."""
        return self._direct([self._value(value) if _odd(value) else value for value in inputs])

    def _exchange(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """As `_direct`, by way of the engine's own values: slower, for outputs that NumPy lacks."""
        feeds = dict(zip(self._names, map(self._value, inputs), strict=True))
        session = self._session or _closed(inputs)
        outputs = [_array(value) for value in session.run_with_ort_values(self._outputs, feeds)]
        return outputs if self._repeated is None else _repeat(outputs, self._repeated)

    def _value(self, array: Array) -> Any:
        from onnx import numpy_helper

        make = self._engine.OrtValue
        tensor = numpy_helper.from_array(array)
        value = make.ortvalue_from_shape_and_type(list(array.shape), tensor.data_type)
        ctypes.memmove(value.data_ptr(), tensor.raw_data, len(tensor.raw_data))
        return value

    def close(self) -> None:
        """Let the session go."""
        self._session = None
        self._call = _closed


def _repeat(values: Sequence[Array], places: Sequence[int]) -> Sequence[Array]:
    """The value at each place, a copy where an earlier output has it."""
    return [
        values[place] if place not in places[:at] else copy.deepcopy(values[place])
        for at, place in enumerate(places)
    ]


def _closed(inputs: Sequence[Array]) -> NoReturn:
    raise SessionClosed(
        f"this executable was closed, called with {len(inputs)} inputs", fix="compile again."
    )


def _element(dtype: str) -> str:
    """The dtype of the tensors inside `seq(…)` and `optional(…)`."""
    return dtype.rsplit("(", 1)[-1].rstrip(")")


def _foreign(types: Sequence[ValueType]) -> str:
    return next(kind.dtype for kind in types if _element(kind.dtype) in FOREIGN)


def _odd(value: Any) -> bool:
    """Whether an input is an array of a dtype that is not NumPy's own."""
    return not isinstance(value, list) and value is not None and value.dtype.isbuiltin != 1


def _array(value: Any) -> Array:
    """A NumPy copy of one of the engine's tensors."""
    from onnx import TensorProto, numpy_helper

    kind = value.element_type()
    if not value.is_tensor() or kind == TensorProto.STRING:
        return value.numpy()
    tensor = TensorProto(data_type=kind, dims=value.shape())
    tensor.raw_data = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return numpy_helper.to_array(tensor).copy()
