"""What goes into OpenVINO and comes back: dtypes, shapes, and several threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from rlx.backends.openvino import open_cpu
from rlx.backends.protocol import CompileOptions, Executable
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError, SessionClosed
from rlx.program import load

pytestmark = pytest.mark.needs("openvino")
CPU = DeviceSpec("cpu", 0)
ELSEWHERE = " Fix: choose another backend: run `rlx explain --all`."
NEG = "g (float[2] x) => (float[2] y) { y = Neg(x) }"
X = np.array([1, -2], np.float32)


def compiled(text: str) -> Executable:
    model = onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 25]> {text}')
    return open_cpu(CPU, {}).compile(load(model), CompileOptions())


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("bfloat16", ml_dtypes.bfloat16),
        ("float16", np.float16),
        ("float8e4m3fn", ml_dtypes.float8_e4m3fn),
        ("float8e5m2", ml_dtypes.float8_e5m2),
        ("bool", np.bool_),
        ("int8", np.int8),
        ("uint16", np.uint16),
        ("int64", np.int64),
    ],
)
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3)])
def test_dtypes_and_shapes_come_back_as_they_were(
    name: str, dtype: Any, shape: tuple[int, ...]
) -> None:
    value = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    sizes = f"[{','.join(map(str, shape))}]" if shape else ""
    (y,) = compiled(f"g ({name}{sizes} x) => ({name}{sizes} y) {{ y = Identity(x) }}").run([value])
    assert y.dtype == value.dtype
    np.testing.assert_array_equal(y, value)


@pytest.mark.parametrize("name", ["string", "int4", "float8e4m3fnuz", "float4e2m1"])
def test_what_can_not_be_exchanged_is_refused(name: str) -> None:
    with pytest.raises(ExecutionError) as caught:
        compiled(f"g ({name}[2] x) => ({name}[2] y) {{ y = Identity(x) }}")
    assert str(caught.value) == f"openvino-cpu can't exchange x, which is {name}.{ELSEWHERE}"


def test_sizes_may_change_from_call_to_call() -> None:
    executable = compiled("g (float[a,b] x, float[b] z) => (float[a,b] y) { y = Add(x, z) }")
    for shape in ((2, 3), (1, 1), (0, 2), (4, 2), (2, 3)):
        x = np.ones(shape, np.float32)
        (y,) = executable.run([x, x.sum(0)])
        np.testing.assert_array_equal(y, x + x.sum(0))


def test_an_input_that_nothing_reads_is_taken() -> None:
    executable = compiled("g (float[2] unread, float[2] x) => (float[2] y) { y = Neg(x) }")
    (y,) = executable.run([X + 5, X])
    np.testing.assert_array_equal(y, -X)


def test_a_value_may_be_several_outputs() -> None:
    model = onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 25]> {NEG}')
    model.graph.output.append(model.graph.output[0])
    a, b = open_cpu(CPU, {}).compile(load(model), CompileOptions()).run([X])
    np.testing.assert_array_equal(a, b)
    assert not np.shares_memory(a, b)


def test_threads_may_run_one_program_at_once() -> None:
    executable = compiled("g (float[64,64] x) => (float[64,64] y) { y = MatMul(x, x) }")
    given = [np.full((64, 64), n, np.float32) for n in range(8)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda x: executable.run([x])[0], given * 4))
    for x, y in zip(given * 4, found, strict=True):
        np.testing.assert_array_equal(y, x @ x)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("g (float[0,2] x) => (float[2,0] y) { y = Transpose(x) }", (2, 0)),
        ("g (bfloat16[2,0] x) => (bfloat16[0,2] y) { y = Transpose(x) }", (0, 2)),
    ],
)
def test_what_holds_nothing_has_its_sizes(text: str, shape: tuple[int, ...]) -> None:
    dtype = ml_dtypes.bfloat16 if "bfloat16" in text else np.float32
    executable = compiled(text)
    (y,) = executable.run([np.empty(shape[::-1], dtype)])
    assert (y.shape, y.dtype, executable.device) == (shape, np.dtype(dtype), "cpu")
    executable.close()
    with pytest.raises(SessionClosed):
        executable.run([np.empty(shape[::-1], dtype)])


def test_an_output_that_holds_nothing_stands_beside_others() -> None:
    text = "g (float[0,2] x, float[2] z) => (float[2,0] y, float[2] w) "
    y, w = compiled(text + "{ y = Transpose(x) w = Neg(z) }").run([np.empty((0, 2), np.float32), X])
    assert y.shape == (2, 0)
    np.testing.assert_array_equal(w, -X)


DIVISIONS = [
    "{ y = Div(x, z) }",
    "{ m = MatMul(x, x) y = Div(m, z) }",
    "{ m = MatMul(x, z) y = Div(x, m) }",
    "{ m = MatMul(x, z) y = Div(three, m) }",
    "{ m = MatMul(x, z) y = Div(m, three) }",
    "{ s = Shape(x) f = Cast<to = 1>(s) m = MatMul(x, z) y = Div(f, m) }",
]


@pytest.mark.parametrize("text", DIVISIONS)
def test_divisions_divide_the_right_way_round(text: str) -> None:
    """OpenVINO makes products of them, or, kept from that, swaps the sides of a constant's."""
    from rlx.backends.reference import open_cpu as oracle

    text = "g (float[2,2] x, float[2,2] z) => (float[2,2] y) <float three = {3}> " + text
    model = load(onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 25]> {text}'))
    x = np.array([[1, 2], [3, 4]], np.float32)
    (wanted,) = oracle(CPU, {}).compile(model, CompileOptions()).run([x, x + 1])
    (found,) = compiled(text).run([x, x + 1])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_the_smallest_numbers_divide() -> None:
    x = np.array([0.5, 2.9387359e-39], np.float32)
    text = "g (float[2] x, float[2] z) => (float[2] y) { y = Div(x, z) }"
    (y,) = compiled(text).run([x, np.full(2, 2.9387359e-39, np.float32)])
    np.testing.assert_allclose(y, [1.7014118e38, 1], rtol=1e-6)
