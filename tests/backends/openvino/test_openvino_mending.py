"""What OpenVINO's kernels compute wrongly comes out right: NaN, wide integers, pads and ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from rlx.backends.openvino import open_cpu
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.program import load

pytestmark = pytest.mark.needs("openvino")
NAN, INF = np.nan, np.inf
X = np.array([[NAN, 1, -1, 0, INF, -INF, NAN, 2]], np.float32)
Z = np.array([[1, NAN, -1, 0, INF, -INF, NAN, NAN]], np.float32)
LARGE = np.array([2**31 - 1, -(2**31), 2**24 + 1, -1, 5], np.int32)
BESIDE = np.array([2**31 - 2, 1 - 2**31, 2**24, -2, 5], np.int32)


def answer(text: str, *inputs: Any) -> Any:
    (y,) = answers(text, *inputs)
    return y


def answers(text: str, *inputs: Any) -> Any:
    model = onnx.parser.parse_model(f'<ir_version: 13, opset_import: ["": 25]> {text}')
    executable = open_cpu(DeviceSpec("cpu", 0), {}).compile(load(model), CompileOptions())
    found = executable.run(list(inputs))
    executable.close()
    return found


ONE = "g (float[1,8] x) => (float[1,8] y)"
TWO = "g (float[1,8] x, float[1,8] z) => (float[1,8] y)"
SAID = "g (float[1,8] x, float[1,8] z) => (bool[1,8] y)"
with np.errstate(all="ignore"):
    KEPT = {
        "Relu": (f"{ONE} {{ y = Relu(x) }}", [X], np.maximum(X, 0)),
        "Relu after a product": (
            f"{ONE} {{ a = Mul(x, x) b = Neg(a) y = Relu(b) }}",
            [X],
            np.maximum(-(X * X), 0),
        ),
        "Clip": (f"{ONE} <float a={{-1}}, float b={{1}}> {{ y=Clip(x,a,b) }}", [X], X.clip(-1, 1)),
        "constants first": (
            f"{ONE} <float a={{-1}}, float b={{1}}> {{ m = Max(a, x) y = Min(b, m) }}",
            [X],
            X.clip(-1, 1),
        ),
        "Relu and a bound": (
            f"{ONE} <float b={{1}}> {{ m = Relu(x) y = Min(m, b) }}",
            [X],
            X.clip(0, 1),
        ),
        "Clip as in a hard swish": (
            f"{ONE} <float c={{3}}, float a={{0}}, float b={{6}}> "
            "{ m = Add(x, c) n = Clip(m, a, b) y = Mul(x, n) }",
            [X],
            X * (X + 3).clip(0, 6),
        ),
        "Clip that multiplies another": (
            f"{TWO} <float a={{0}}, float b={{6}}> {{ n = Clip(x, a, b) y = Mul(z, n) }}",
            [X, np.ones_like(X)],
            X.clip(0, 6),
        ),
        "Exp": (f"{ONE} {{ y = Exp(x) }}", [X], np.exp(X)),
        "HardSigmoid": (f"{ONE} {{ y=HardSigmoid(x) }}", [X], (X * 0.2 + 0.5).clip(0, 1)),
        "Max": (f"{TWO} {{ y = Max(x, z) }}", [X, Z], np.maximum(X, Z)),
        "Min": (f"{TWO} {{ y = Min(x, z) }}", [X, Z], np.minimum(X, Z)),
        "Greater": (f"{SAID} {{ y = Greater(x, z) }}", [X, Z], X > Z),
        "GreaterOrEqual": (f"{SAID} {{ y = GreaterOrEqual(x, z) }}", [X, Z], X >= Z),
        "ReduceMax": ("g (float[1,8] x) => (float[1,1] y) { y = ReduceMax(x) }", [X], [[NAN]]),
        "ReduceMin": ("g (float[1,8] x) => (float[1,1] y) { y = ReduceMin(x) }", [Z], [[NAN]]),
    }


@pytest.mark.parametrize("case", KEPT)
def test_nan_is_kept(case: str) -> None:
    text, inputs, expected = KEPT[case]
    np.testing.assert_allclose(answer(text, *inputs), expected, rtol=1e-6)


@pytest.mark.parametrize("operation", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_row_with_nan_is_nan(operation: str, axis: int) -> None:
    rows = np.array([[NAN, 1], [INF, 1], [-INF, 0], [1, 1], [-INF, -INF]], np.float32)
    given = rows if axis else rows.T
    shape = ",".join(map(str, given.shape))
    text = f"g (float[{shape}] x) => (float[{shape}] y) {{ y = {operation}<axis = {axis}>(x) }}"
    half = np.array([0, 1, 0.5], np.float32)
    with np.errstate(divide="ignore"):
        zero, one, middle = half if operation == "Softmax" else np.log(half)
    expected = [[NAN, NAN], [NAN, NAN], [zero, one], [middle, middle], [NAN, NAN]]
    got = answer(text, given)
    np.testing.assert_allclose(got if axis else got.T, expected, rtol=1e-6)


def test_an_infinite_gelu_is_infinite() -> None:
    got = answer("g (float[2] x) => (float[2] y) { y = Gelu(x) }", np.array([INF, 0], np.float32))
    np.testing.assert_array_equal(got, [INF, 0])


COMPARED = {
    "Equal": np.equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
}


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("operation", COMPARED)
def test_integers_are_compared_to_the_last_bit(operation: str, dtype: str) -> None:
    text = f"g ({dtype}[5] x, {dtype}[5] z) => (bool[5] y) {{ y = {operation}(x, z) }}"
    for a, b in ((LARGE, BESIDE), (BESIDE, LARGE)):
        got = answer(text, a.astype(dtype), b.astype(dtype))
        np.testing.assert_array_equal(got, COMPARED[operation](a, b))


def test_integers_are_rectified_to_the_last_bit() -> None:
    got = answer("g (int32[5] x) => (int32[5] y) { y = Relu(x) }", LARGE)
    np.testing.assert_array_equal(got, np.maximum(LARGE, 0))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_a_padding_value_may_be_an_input(dtype: str) -> None:
    name = {"float32": "float"}.get(dtype, dtype)
    text = (
        f"g ({name}[2] x, {name} v) => ({name}[5] y) <int64[2] p = {{1, 2}}> {{ y = Pad(x,p,v) }}"
    )
    x, v = np.array([0, 1], dtype), np.array(1, dtype)
    np.testing.assert_array_equal(answer(text, x, v), np.pad(x, (1, 2), constant_values=v))


@pytest.mark.parametrize("bounds", [(0, 5, 2), (5, 0, 1), (0, 5, -1), (5, 0, -2), (3, 3, 1)])
def test_a_range_that_leads_away_is_empty(bounds: tuple[int, int, int]) -> None:
    text = "g (float a, float b, float c) => (float[n] y) { y = Range(a, b, c) }"
    got = answer(text, *(np.array(bound, np.float32) for bound in bounds))
    np.testing.assert_array_equal(got, np.arange(*bounds, dtype=np.float32))


@pytest.mark.parametrize("sizes", ["0,5", "n,5"])
def test_gathering_from_nothing_gives_nothing(sizes: str) -> None:
    """Beside something that is computed: else nothing is run at all."""
    text = (
        f"g (float[{sizes}] x, float[2] z) => (float[2,1] y) <int64[1] i = {{1}}> "
        "{ a = Gather<axis = 1>(x, i) b = ReduceSum(a) c = Add(z, b) "
        "s = Constant<value_ints = [2, 1]>() y = Reshape(c, s) }"
    )
    if sizes == "0,5":  # what is reduced has its sizes at hand
        text = text.replace("b = ReduceSum(a)", "b = ReduceSum<keepdims = 0>(a)")
    z = np.array([1, 2], np.float32)
    got = answer(text, np.zeros((0, 5), np.float32), z)
    np.testing.assert_array_equal(got, [[1], [2]])


def test_gathering_nothing_ends_no_process() -> None:
    """Which is known once constants are folded."""
    text = "g (float[1] x) => (float[n] y) <bool[1] c = {0}> { y = Compress<axis = 0>(x, c) }"
    assert answer(text, np.ones(1, np.float32)).shape == (0,)


def test_the_order_of_axes_that_are_not_named_is_found() -> None:
    """OpenVINO's own ranges have no dtype."""
    got = answer("g (float[n,2] x) => (float[2,n] y) { y = Transpose(x) }", X.reshape(4, 2))
    np.testing.assert_array_equal(got, X.reshape(4, 2).T)


@pytest.mark.parametrize("axes", [[0], [-1], [1, -1], [3, 0, 1]])
@pytest.mark.parametrize("sizes", ["2,3", "a,b"])
def test_axes_to_add_may_be_inputs(axes: list[int], sizes: str) -> None:
    ndim = ",".join("pqrst"[: 2 + len(axes)])
    text = (
        f"g (float[{sizes}] x, int64[{len(axes)}] a) => (float[{ndim}] y) {{ y = Unsqueeze(x, a) }}"
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = answer(text, x, np.array(axes))
    np.testing.assert_array_equal(got, np.expand_dims(x, tuple(axes)))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 1, 3, 2)])
def test_repeats_may_be_inputs(shape: tuple[int, ...]) -> None:
    ndim, sizes = len(shape), ",".join(map(str, shape))
    out = ",".join("pqrst"[:ndim])
    text = f"g (float[{sizes}] x, int64[{ndim}] r) => (float[{out}] y) {{ y = Tile(x, r) }}"
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    repeats = np.arange(1, ndim + 1)
    np.testing.assert_array_equal(answer(text, x, repeats), np.tile(x, repeats))


@pytest.mark.parametrize("operation", ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2"])
@pytest.mark.parametrize("axes", [[1], [0, -1]])
def test_axes_to_drop_may_be_inputs(operation: str, axes: list[int]) -> None:
    """And what comes after knows how many stay."""
    left = ",".join("pq"[: 3 - len(axes)])
    text = (
        f"g (float[2,3,4] x, int64[{len(axes)}] a) => (float[{left}] y) "
        f"{{ t = {operation}<keepdims = 0>(x, a) y = Sqrt(t) }}"
    )
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    reductions = {
        "ReduceSum": np.sum,
        "ReduceMean": np.mean,
        "ReduceMax": np.max,
        "ReduceL2": lambda x, axis: np.sqrt(np.sum(x * x, axis)),
    }
    expected = np.sqrt(reductions[operation](x, axis=tuple(axes)))
    np.testing.assert_allclose(answer(text, x, np.array(axes)), expected, rtol=1e-6)


@pytest.mark.parametrize(("operation", "limit"), [("ReduceMax", -INF), ("ReduceMin", INF)])
def test_the_furthest_of_no_numbers_is_infinite(operation: str, limit: float) -> None:
    text = f"g (float[2,0] x, int64[1] a) => (float[2,1] y) {{ y = {operation}(x, a) }}"
    got = answer(text, np.zeros((2, 0), np.float32), np.array([1]))
    np.testing.assert_array_equal(got, [[limit], [limit]])


@pytest.mark.parametrize(
    ("operation", "dtype"),
    [(operation, "int8") for operation in ("Add", "Sub", "Mul", "Abs", "Neg")]
    + [(operation, "uint8") for operation in ("Add", "Sub", "Mul", "Abs")],
)
@pytest.mark.parametrize("shape", [(16,), (2, 2, 2, 2)])
def test_integers_of_8_bits_wrap(operation: str, dtype: str, shape: tuple[int, ...]) -> None:
    sizes = ",".join(map(str, shape))
    x = np.arange(16, dtype=np.uint8).reshape(shape) * np.uint8(17)
    x = x.view(dtype)
    one = {"Abs": np.abs, "Neg": np.negative}
    two = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}
    given = "x" if operation in one else "x, z"
    text = (
        f"g ({dtype}[{sizes}] x, {dtype}[{sizes}] z) => ({dtype}[{sizes}] y, {dtype}[{sizes}] w) "
        f"{{ y = {operation}({given}) w = Identity(z) }}"
    )
    z = x[::-1].copy()
    expected = one[operation](x) if operation in one else two[operation](x, z)
    np.testing.assert_array_equal(answers(text, x, z)[0], expected)
