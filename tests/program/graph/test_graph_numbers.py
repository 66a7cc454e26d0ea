"""Every method of a graph gives the numbers of its formula, on two backends that share no code."""

import math

import numpy as np
import pytest

import rlx
from rlx.program.graph.names import ACTIVATIONS, BINARY, COMPARISONS, REDUCTIONS

BACKENDS = ["numpy", pytest.param("onnxruntime-cpu", marks=pytest.mark.needs("onnxruntime"))]
erf = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "gelu": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2,
    "gelu_approx": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x * sigmoid(x),
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "neg": np.negative,
    "abs": np.abs,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan": np.arctan,
    "round": np.round,
}
POSITIVE = {"log", "sqrt", "rsqrt"}
ARITHMETIC = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Max": np.maximum,
    "Min": np.minimum,
    "Pow": np.power,
}
ORDERS = {
    "Equal": np.equal,
    "NotEqual": np.not_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
}


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ACTIVATIONS)
def test_an_activation_is_its_function(outputs, numbers, backend, kind):
    x = numbers(3, 4) * 2
    x = np.abs(x) if kind in POSITIVE else x
    wanted = FUNCTIONS[kind](x.astype("float64"))
    close(outputs(backend, lambda g, x: g.activation(kind, x), x)[0], wanted)
    if hasattr(rlx.Graph, kind):
        close(outputs(backend, lambda g, x: getattr(g, kind)(x), x)[0], wanted)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("op", BINARY)
def test_arithmetic_broadcasts(outputs, numbers, backend, op):
    a, b = np.abs(numbers(2, 1, 4)) + 1, numbers(3, 1)
    wanted = ARITHMETIC[BINARY[op]](a, b)
    close(outputs(backend, lambda g, a, b: g.binary(op, a, b), a, b)[0], wanted)
    if hasattr(rlx.Graph, op):
        close(outputs(backend, lambda g, a, b: getattr(g, op)(a, b), a, b)[0], wanted)


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_divide_toward_zero(outputs, backend):
    a, b = np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])
    found = outputs(backend, lambda g, a, b: g.div(a, b), a, b)[0]
    np.testing.assert_array_equal(found, [3, -3, -3, 3])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons_give_booleans(outputs, backend, op):
    a, b = np.array([[1.0, 2.0, 3.0]], "float32"), np.array([[2.0], [1.0]], "float32")
    found = outputs(backend, lambda g, a, b: g.compare(op, a, b), a, b)[0]
    np.testing.assert_array_equal(found, ORDERS[COMPARISONS[op]](a, b))


@pytest.mark.parametrize("backend", BACKENDS)
def test_short_comparisons_and_selection(outputs, numbers, backend):
    a, b = numbers(3, 4), numbers(4)
    build = lambda g, a, b: (g.lt_(a, b), g.eq_(a, a), g.where_(g.lt_(a, b), a, b))  # noqa: E731
    less, equal, least = outputs(backend, build, a, b)
    np.testing.assert_array_equal(less, a < b)
    assert equal.all()
    np.testing.assert_array_equal(least, np.minimum(a, b))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize(("axes", "keep"), [([1], False), ([0, -1], True), ((), False)])
def test_reductions(outputs, numbers, backend, op, axes, keep):
    x = numbers(2, 3, 4)
    wanted = getattr(np, op)(x, axis=tuple(axes), keepdims=keep)
    close(outputs(backend, lambda g, x: g.reduce(x, op, axes, keep_dim=keep), x)[0], wanted)
    if op in ("sum", "mean"):
        close(outputs(backend, lambda g, x: getattr(g, op)(x, axes, keep), x)[0], wanted)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_and_running_sums(outputs, numbers, backend, axis):
    x = numbers(2, 3, 4)
    powers = np.exp(x - x.max(axis, keepdims=True))
    build = lambda g, x: (g.softmax(x, axis), g.cumsum(x, axis), g.cumsum(x, axis, exclusive=True))  # noqa: E731
    soft, running, before = outputs(backend, build, x)
    close(soft, powers / powers.sum(axis, keepdims=True))
    close(running, np.cumsum(x, axis))
    close(before, np.cumsum(x, axis) - x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_layout(outputs, numbers, backend):
    x, y, rows = numbers(2, 3, 4), numbers(2, 1, 4), np.array([[2, 0], [-1, 1]])
    found = outputs(
        backend,
        lambda g, x, y, rows: (
            g.reshape(x, [4, -1]),
            g.transpose(x, [2, 0, 1]),
            g.narrow(x, 1, 1, 2),
            g.concat([x, y], 1),
            g.gather(x, rows, 1),
            g.cast(x, "i32"),
        ),
        x,
        y,
        rows,
    )
    wanted = (x.reshape(4, -1), x.transpose(2, 0, 1), x[:, 1:3], np.concatenate([x, y], 1))
    for one, other in zip(found, (*wanted, x[:, rows], x.astype("int32")), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,))],
)
def test_matmul(outputs, numbers, backend, left, right):
    a, b = numbers(*left), numbers(*right)
    shape = list((a @ b).shape)
    build = lambda g, a, b: (g.matmul(a, b), g.matmul_with_shape(a, b, shape, "f32"))  # noqa: E731
    for found in outputs(backend, build, a, b):
        close(found, a @ b)


@pytest.mark.parametrize("backend", BACKENDS)
def test_normalisations(outputs, numbers, backend):
    x, gamma, beta = numbers(2, 3, 4), numbers(4), numbers(4)
    build = lambda g, *given: (g.layer_norm(*given, eps=0.1), g.rms_norm(*given, eps=0.1))  # noqa: E731
    layer, rms = outputs(backend, build, x, gamma, beta)
    centred = x - x.mean(-1, keepdims=True)
    close(layer, centred / np.sqrt(x.var(-1, keepdims=True) + 0.1) * gamma + beta)
    close(rms, x / np.sqrt((x**2).mean(-1, keepdims=True) + 0.1) * gamma + beta)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_norm_over_several_axes(outputs, numbers, backend):
    x, gamma, beta = numbers(2, 3, 4), numbers(3, 4), numbers(3, 4)
    (found,) = outputs(backend, lambda g, *given: g.layer_norm(*given, axis=1), x, gamma, beta)
    centred = x - x.mean((1, 2), keepdims=True)
    close(found, centred / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5) * gamma + beta)
