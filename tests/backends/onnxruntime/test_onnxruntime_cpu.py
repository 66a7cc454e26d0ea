"""The adapter refuses what onnxruntime would ignore, and exchanges every dtype exactly."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from rlx.backends.onnxruntime import open_cpu
from rlx.backends.protocol import Backend, CompileOptions, Executable
from rlx.device import DeviceSpec
from rlx.errors import ContractError, ExecutionError, SessionClosed, SettingError, Unavailable
from rlx.program import load

pytestmark = pytest.mark.needs("onnxruntime")
CPU = DeviceSpec("cpu", 0)
TYPES = [
    ("bfloat16", ml_dtypes.bfloat16),
    ("float8e4m3fn", ml_dtypes.float8_e4m3fn),
    ("float8e4m3fnuz", ml_dtypes.float8_e4m3fnuz),
    ("float8e5m2", ml_dtypes.float8_e5m2),
    ("float8e5m2fnuz", ml_dtypes.float8_e5m2fnuz),
    ("int4", ml_dtypes.int4),
    ("uint4", ml_dtypes.uint4),
    ("int2", ml_dtypes.int2),
    ("uint2", ml_dtypes.uint2),
]


def program(text: str, opset: int = 25) -> Any:
    """A program from ONNX's text syntax."""
    return load(onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": {opset}]> {text}'))


def compiled(text: str, **options: object) -> Executable:
    return open_cpu(CPU, options).compile(program(text), CompileOptions())


def test_it_runs_where_it_says() -> None:
    executable = compiled("g (float[2] x) => (float[2] y) { y = Neg(x) }")
    (y,) = executable.run([np.array([1, -2], np.float32)])
    assert executable.device == "cpu"
    np.testing.assert_array_equal(y, np.array([-1, 2], np.float32))


def test_the_version_is_the_engines() -> None:
    assert open_cpu(CPU, {}).version == import_module("onnxruntime").__version__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"intra_op_thread": 1},
            "onnxruntime-cpu has no option 'intra_op_thread'. "
            "Fix: did you mean 'intra_op_threads'?",
        ),
        (
            {"threads": 1},
            "onnxruntime-cpu has no option 'threads'. "
            "Fix: use one of graph_optimization, inter_op_threads, intra_op_threads.",
        ),
        (
            {"intra_op_threads": -1},
            "intra_op_threads must be a whole number from 0, got -1. "
            "Fix: write intra_op_threads: 0 to let the engine decide.",
        ),
        (
            {"inter_op_threads": True},
            "inter_op_threads must be a whole number from 0, got True. "
            "Fix: write inter_op_threads: 0 to let the engine decide.",
        ),
        (
            {"graph_optimization": "al"},
            "graph_optimization must be one of disable, basic, extended, all, got 'al'. "
            "Fix: write graph_optimization: all.",
        ),
    ],
)
def test_an_option_that_the_engine_would_ignore_is_refused(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingError) as caught:
        open_cpu(CPU, options)
    assert str(caught.value) == message


@pytest.mark.parametrize("level", ["disable", "basic", "extended", "all"])
def test_every_level_of_optimization_runs(level: str) -> None:
    executable = compiled(
        "g (float[2] x) => (float[2] y) { t = Neg(x) y = Neg(t) }",
        graph_optimization=level, intra_op_threads=1, inter_op_threads=1,
    )  # fmt: skip
    (y,) = executable.run([np.ones(2, np.float32)])
    np.testing.assert_array_equal(y, np.ones(2, np.float32))


def test_there_is_one_cpu() -> None:
    with pytest.raises(Unavailable) as caught:
        open_cpu(DeviceSpec("cpu", 1), {})
    assert str(caught.value) == "onnxruntime-cpu has only cpu:0, got cpu:1. Fix: ask for cpu."


class Engine:
    """onnxruntime, but with other providers."""

    def __init__(self, engine: Any, available: list[str], used: list[str]):
        self._engine, self._available, self._used = engine, available, used

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def get_available_providers(self) -> list[str]:
        return self._available

    def InferenceSession(self, *_: Any, **__: Any) -> Any:  # noqa: N802
        used = self._used
        return type("Session", (), {"get_providers": lambda self: used})()


def test_a_build_without_the_provider_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = Engine(import_module("onnxruntime"), ["AzureExecutionProvider"], [])
    monkeypatch.setitem(sys.modules, "onnxruntime", engine)
    with pytest.raises(Unavailable) as caught:
        open_cpu(CPU, {})
    assert caught.value.message == (
        "this onnxruntime was built without CPUExecutionProvider, it has AzureExecutionProvider"
    )


def test_a_session_on_another_provider_is_a_broken_contract(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cpu = "CPUExecutionProvider"
    engine = Engine(import_module("onnxruntime"), [cpu], ["AzureExecutionProvider", cpu])
    monkeypatch.setitem(sys.modules, "onnxruntime", engine)
    with pytest.raises(ContractError) as caught:
        compiled("g (float[2] x) => (float[2] y) { y = Neg(x) }")
    assert caught.value.message == (
        f"onnxruntime runs on AzureExecutionProvider, {cpu}, asked for {cpu}"
    )


@pytest.mark.parametrize(("name", "dtype"), TYPES)
def test_dtypes_that_numpy_lacks_go_in_and_out_exactly(name: str, dtype: Any) -> None:
    there = compiled(f"g ({name}[3] x) => (float[3] y) {{ y = Cast <to = 1> (x) }}")
    number = int(getattr(onnx.TensorProto, name.upper()))
    back = compiled(f"g (float[3] x) => ({name}[3] y) {{ y = Cast <to = {number}> (x) }}")
    narrow = np.array([1, 0, 1], dtype)
    (wide,) = there.run([narrow])
    (again,) = back.run([wide])
    np.testing.assert_array_equal(wide, np.array([1, 0, 1], np.float32))
    assert again.dtype == narrow.dtype
    np.testing.assert_array_equal(again, narrow)


def test_a_sequence_beside_bfloat16_goes_in() -> None:
    executable = compiled(
        "g (bfloat16[2] x, seq(float[2]) s) => (float[2] y, int64 n) "
        "{ y = Cast <to = 1> (x) n = SequenceLength (s) }"
    )
    x = np.ones(2, ml_dtypes.bfloat16)
    y, n = executable.run([x, [np.zeros(2, np.float32)] * 3])
    assert (y.tolist(), n.tolist()) == ([1.0, 1.0], 3)


@pytest.mark.parametrize(("name", "dtype"), TYPES)
@pytest.mark.parametrize(
    ("other", "use", "count"),
    [("seq(float[2])", "SequenceLength", 1), ("string[2]", "Size", 2)],
)
def test_texts_and_sequences_beside_dtypes_that_numpy_lacks(
    name: str, dtype: Any, other: str, use: str, count: int
) -> None:
    number = int(getattr(onnx.TensorProto, name.upper()))
    executable = compiled(
        f"g (float[3] x, {other} s, {name}[3] z) => ({name}[3] y, int64 n, {name}[3] w) "
        f"{{ y = Cast <to = {number}> (x) n = {use} (s) w = Identity (z) }}"
    )
    held = [np.zeros(2, np.float32)] if use == "SequenceLength" else np.array(["a", "b"], object)
    narrow = np.array([1, 0, 1], dtype)
    y, n, w = executable.run([np.array([1, 0, 1], np.float32), held, narrow])
    assert (y.dtype, w.dtype, n.tolist()) == (narrow.dtype, narrow.dtype, count)
    np.testing.assert_array_equal(y, narrow)
    np.testing.assert_array_equal(w, narrow)


MASKS = [(6,), (4, 6), (1, 6), (2, 3, 1, 6), (2, 1, 4, 6), (2, 1, 1, 6), (3, 1, 6)]


@pytest.mark.parametrize("queries", ["4", "S"])
@pytest.mark.parametrize("shape", MASKS)
@pytest.mark.parametrize("dtype", ["float", "bool"])
def test_one_row_of_a_mask_is_for_all_queries(
    dtype: str, shape: tuple[int, ...], queries: str
) -> None:
    """Whose kernel does not broadcast it; compared with the mask written out."""
    rng = np.random.default_rng(7)
    q, k, v = (rng.standard_normal((2, 3, n, 8)).astype(np.float32) for n in (4, 6, 6))
    mask = rng.standard_normal(shape).astype(np.float32)
    whole = np.broadcast_to(mask, (2, 3, 4, 6)).copy()
    if dtype == "bool":
        mask, whole = mask > -0.5, whole > -0.5
    found = []
    for one in (mask, whole):
        sizes = ",".join(map(str, one.shape))
        executable = compiled(
            f"g (float[2,3,{queries},8] q, float[2,3,6,8] k, float[2,3,6,8] v, {dtype}[{sizes}] m) "
            f"=> (float[2,3,{queries},8] y) {{ y = Attention (q, k, v, m) }}"
        )
        found += executable.run([q, k, v, one])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-6)


def test_sequences_and_absent_optionals() -> None:
    executable = compiled("g (seq(float[2]) s, int64 i) => (float[2] y) { y = SequenceAt (s, i) }")
    s = [np.zeros(2, np.float32), np.ones(2, np.float32)]
    (y,) = executable.run([s, np.array(1)])
    np.testing.assert_array_equal(y, np.ones(2, np.float32))
    executable = compiled("g (optional(float[2]) x) => (bool y) { y = OptionalHasElement (x) }")
    assert [executable.run([x])[0].tolist() for x in (None, s[0])] == [False, True]


def test_outputs_are_not_views() -> None:
    executable = compiled("g (float[2] x) => (float[2] y) { y = Identity (x) }")
    x = np.ones(2, np.float32)
    (y,) = executable.run([x])
    y[:] = 7
    assert x.tolist() == [1, 1]
    assert executable.run([x])[0].tolist() == [1, 1]


def test_a_program_too_large_for_protobuf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlx.backends.onnxruntime.backend.MAX_BYTES", 10)
    with pytest.raises(ExecutionError) as caught:
        compiled("g (float[2] x) => (float[2] y) { y = Neg(x) }")
    assert "bytes, onnxruntime reads at most 10. Fix: choose another backend" in str(caught.value)


def test_closing_twice_is_safe_and_running_then_is_an_error() -> None:
    backend: Backend = open_cpu(CPU, {})
    source = program("g (float[2] x) => (float[2] y) { y = Neg(x) }")
    executable = backend.compile(source, CompileOptions())
    for closes in (executable, executable, backend, backend):
        closes.close()
    with pytest.raises(SessionClosed) as caught:
        executable.run([np.ones(2, np.float32)])
    assert (
        str(caught.value) == "this executable was closed, called with 1 inputs. Fix: compile again."
    )


def test_the_engine_prints_nothing_when_it_fails() -> None:
    script = (
        "import numpy as np, onnx\n"
        "from rlx.backends.onnxruntime import open_cpu\n"
        "from rlx.backends.protocol import CompileOptions\n"
        "from rlx.device import DeviceSpec\n"
        "from rlx.program import load\n"
        "text = 'g (float[N] x, int64[1] s) => (float[M] y) { y = Reshape(x, s) }'\n"
        "model = onnx.parser.parse_model('<ir_version: 10, opset_import: [\"\": 21]> ' + text)\n"
        "made = open_cpu(DeviceSpec('cpu', 0), {}).compile(load(model), CompileOptions())\n"
        "try:\n    made.run([np.ones(3, np.float32), np.array([2])])\n"
        "except Exception as error:\n    print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("Fail\n", "")
