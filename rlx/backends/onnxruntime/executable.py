"""One session as an executable: arrays of ordinary dtypes go in and out without a detour."""

from __future__ import annotations

import copy
import ctypes
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.backends.onnxruntime.exchange import is_foreign
from rlx.errors import SessionClosed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rlx.backends.protocol import Array
    from rlx.program.types import Interface


class Compiled:
    """One session; arrays of ordinary dtypes go in and out without a detour."""

    def __init__(
        self,
        engine: Any,
        session: Any,
        program: Interface,
        device: str,
        widened: Mapping[str, str] | None = None,
    ):
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
        if any(map(is_foreign, given)):
            self._call = self._accept
        if widened:
            self._outputs = [widened.get(name, name) for name in self._outputs]
            self._call = partial(self._narrow, self._call, _narrow_dtypes(program, widened))
        elif any(map(is_foreign, made)):
            self._call = self._exchange
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

    def _narrow(
        self,
        call: Callable[[Sequence[Array]], Sequence[Array]],
        dtypes: Sequence[Any],
        inputs: Sequence[Array],
    ) -> Sequence[Array]:
        """As `call`, with the outputs that came as float32 in their own dtypes."""
        found = zip(call(inputs), dtypes, strict=True)
        return [value if dtype is None else value.astype(dtype) for value, dtype in found]

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


def _narrow_dtypes(program: Interface, widened: Mapping[str, str]) -> list[Any]:
    """By output, the dtype that it is narrowed to, or None."""
    from onnx import TensorProto, helper

    return [
        helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(value.type.dtype.upper()))
        if value.name in widened
        else None
        for value in program.outputs
    ]


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
