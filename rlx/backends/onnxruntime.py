"""onnxruntime on the CPU: a thin adapter that closes the engine's silent fallbacks."""

from __future__ import annotations

import copy
import ctypes
import os
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.backends.precision import as_stated
from rlx.errors import ContractError, ExecutionError, SessionClosed, SettingError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rlx.backends.protocol import Array, CompileOptions
    from rlx.device import DeviceSpec
    from rlx.program import Program, ValueType

PROVIDER = "CPUExecutionProvider"
TELEMETRY = "ORT_DISABLE_TELEMETRY"
OPTIONS = ("graph_optimization", "inter_op_threads", "intra_op_threads")
LEVELS = {
    "disable": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
ERROR, FATAL = 3, 4
"""Log severities: failures are raised with their text, so the engine need not print them too."""
MAX_BYTES = 2**31 - 1
"""A protobuf message can't be larger."""
FOREIGN = frozenset(
    {"bfloat16", "float4e2m1", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"}
    | {"float8e8m0", "int2", "int4", "uint2", "uint4"}
)
"""dtypes that the engine computes with, but can't exchange as NumPy arrays: bfloat16 is refused,
and float8e4m3fn comes back as uint8."""


def import_engine() -> Any:
    """onnxruntime with its telemetry off: since 1.29 it sends events and keeps a device id on disk.

    Only the variable, set before the first import, prevents both. Who sets it to 0 wants them.
    """
    asked = os.environ.setdefault(TELEMETRY, "1")
    import onnxruntime

    if asked != "0":
        onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_cpu(spec: DeviceSpec, options: Mapping[str, object]) -> OnnxRuntime:
    """Open the CPU provider.

    `options`: `intra_op_threads` and `inter_op_threads` (0: the engine decides) and
    `graph_optimization` (`disable`, `basic`, `extended` or `all`).

    Raises:
        SettingError: an option that this adapter does not know; the engine would ignore it.
        Unavailable: there is no such CPU, or this build has no CPU provider.
    """
    onnxruntime = import_engine()

    if spec.index not in (None, 0):
        raise Unavailable(f"onnxruntime-cpu has only cpu:0, got {spec}", fix="ask for cpu.")
    available = onnxruntime.get_available_providers()
    if PROVIDER not in available:
        raise Unavailable(
            f"this onnxruntime was built without {PROVIDER}, it has {', '.join(available)}",
            fix="pip install 'rlx[onnxruntime]'",
        )
    checked = _checked(options)
    onnxruntime.set_default_logger_severity(ERROR)  # a kernel's own log is the whole process's
    return OnnxRuntime(onnxruntime, checked)


def _checked(options: Mapping[str, object]) -> dict[str, Any]:
    """The options, once each is known and has a value of its kind."""
    for name, value in options.items():
        if name not in OPTIONS:
            raise SettingError(
                f"onnxruntime-cpu has no option {name!r}", fix=f"use one of {', '.join(OPTIONS)}."
            )
        if name == "graph_optimization":
            if value not in LEVELS:
                raise SettingError(
                    f"graph_optimization must be one of {', '.join(LEVELS)}, got {value!r}",
                    fix="write graph_optimization: all.",
                )
        elif not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise SettingError(
                f"{name} must be a whole number from 0, got {value!r}",
                fix=f"write {name}: 0 to let the engine decide.",
            )
    return dict(options)


class OnnxRuntime:
    """The opened engine: each compiled program is an `InferenceSession` of its own."""

    device = "cpu"

    def __init__(self, engine: Any, options: Mapping[str, Any]):
        self._engine = engine
        self._options = options

    @property
    def version(self) -> str:
        """The engine's version."""
        return str(self._engine.__version__)

    def compile(
        self,
        program: Program,
        options: CompileOptions,
    ) -> Compiled:
        """Make a session of the program, stamped with the lowest opset that it fits."""
        as_stated(program, options, "onnxruntime")
        model = program.to_onnx()
        size = model.ByteSize()
        if size > MAX_BYTES:
            raise ExecutionError(
                f"{program.name} takes {size} bytes, onnxruntime reads at most {MAX_BYTES}",
                fix="choose another backend, or store the weights in a smaller dtype.",
            )
        session = self._engine.InferenceSession(
            model.SerializeToString(),
            self._session_options(),
            providers=[PROVIDER],
            enable_fallback=0,
            read_config_from_model=0,
        )
        used = session.get_providers()
        if used != [PROVIDER]:
            raise ContractError(f"onnxruntime runs on {', '.join(used)}, asked for {PROVIDER}")
        return Compiled(self._engine, session, program)

    def _session_options(self) -> Any:
        made = self._engine.SessionOptions()
        made.log_severity_level = FATAL
        made.use_deterministic_compute = True
        made.intra_op_num_threads = self._options.get("intra_op_threads", 0)
        made.inter_op_num_threads = self._options.get("inter_op_threads", 0)
        level = LEVELS[self._options.get("graph_optimization", "all")]
        made.graph_optimization_level = getattr(self._engine.GraphOptimizationLevel, level)
        return made

    def close(self) -> None:
        """Nothing is held: the sessions belong to the executables."""


class Compiled:
    """One session; arrays of ordinary dtypes go in and out without a detour."""

    def __init__(self, engine: Any, session: Any, program: Program):
        self._engine = engine
        self._session = session
        self._names = tuple(value.name for value in program.inputs)
        outputs = [value.name for value in program.outputs]
        self._outputs = list(dict.fromkeys(outputs))
        places = [self._outputs.index(name) for name in outputs]
        self._repeated = places if len(places) > len(self._outputs) else None
        """Where a value is several outputs, the engine gives it once: each one's place there."""
        given, made = ([value.type for value in side] for side in (program.inputs, program.outputs))
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

    @property
    def device(self) -> str:
        """Read from the live session."""
        names = [name.removesuffix("ExecutionProvider") for name in self._session.get_providers()]
        return ",".join(names).lower()

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Run once: inputs in the program's order, outputs in its order."""
        return self._call(inputs)

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
