"""Empty axes, windows larger than the input, undefined quotients: the edges of every family."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rlx.errors import ExecutionError

QUICK = settings(
    deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
INF, NAN = np.inf, np.nan
POOLS = ["AveragePool", "MaxPool", "LpPool"]


def f(*values):
    return np.array(values, np.float32)


def line(*values):
    """One image, one channel, one spatial dimension."""
    return np.array([[values]], np.float32)


def empty(*shape):
    return np.zeros(shape, np.float32)


HANGING = {"kernel_shape": [3], "strides": [2], "ceil_mode": 1}
SAME = {"auto_pad": "SAME_UPPER", "strides": [2]}
LINEAR = {"mode": "linear"}
TWICE = f(1, 1, 2, 2)
BOXES, SCORES = f([[0, 0, 1, 1], [0, NAN, 1, 1]]), f([[0.9, 0.8]])

CASES = [
    ("AveragePool", HANGING, [line(1, 2)], [line(1.5)]),
    ("MaxPool", HANGING, [line(1, 2)], [line(2)]),
    ("LpPool", HANGING, [line(3, -4)], [line(5)]),
    ("MaxPool", {**HANGING, "kernel_shape": [4]}, [line(1, 2)], [line()]),
    ("MaxPool", {"kernel_shape": [3], "strides": [2]}, [line(1, 2)], [line(2)]),
    ("AveragePool", {"kernel_shape": [3], "dilations": [2]}, [line(1, 2, 3, 4)], [line()]),
    ("AveragePool", {"kernel_shape": [2], "strides": [2]}, [line()], [line()]),
    ("MaxPool", {"kernel_shape": [3], "dilations": [2]}, [line(1, 2, 3, 4)], [line()]),
    ("Conv", {}, [line(1, 2), line(1, 1, 1)], [line()]),
    ("ConvTranspose", SAME, [line(1, 2, 3), line(1)], [line(1, 0, 2, 0, 3)]),
    ("ConvTranspose", SAME, [line(1, 2), line(1, 1)], [line(1, 1, 2, 2)]),
    ("ConvTranspose", {}, [line(), line(1, 1)], [line(0)]),
    ("ConvTranspose", {"strides": [2]}, [line(), line(1, 1)], [line()]),
    ("Resize", LINEAR, [empty(1, 1, 0, 4), None, TWICE], [empty(1, 1, 0, 8)]),
    ("Resize", {}, [empty(1, 1, 0, 4), None, TWICE], [empty(1, 1, 0, 8)]),
    ("Resize", LINEAR, [line(1, 2), None, f(1, 1, 0.3)], [line()]),
    ("Resize", {"mode": "cubic"}, [empty(0, 3), None, f(1, 2)], [empty(0, 6)]),
    ("GroupNormalization", {"num_groups": 1}, [empty(0, 2, 3), f(1, 2), f(0, 0)], [empty(0, 2, 3)]),
    ("GroupNormalization", {"num_groups": 2}, [empty(1, 2, 0), f(1, 2), f(0, 0)], [empty(1, 2, 0)]),
    ("InstanceNormalization", {}, [empty(1, 2, 0), f(1, 2), f(0, 0)], [empty(1, 2, 0)]),
    ("LayerNormalization", {}, [empty(2, 0), empty(0)], [empty(2, 0)]),
    ("LpNormalization", {"p": 3}, [f(3, 4, 5)], [f(3, 4, 5) / np.float32(6)]),
    ("GridSample", {}, [empty(0, 1, 3, 2), empty(0, 2, 4, 2)], [empty(0, 1, 2, 4)]),
    ("GatherND", {}, [f(1, 2), np.zeros((3, 1, 0), np.int64)], [f(*[[[1, 2]]] * 3)]),
    ("ArgMax", {"axis": 1}, [empty(0, 0)], [np.zeros((0, 1), np.int64)]),
    ("Shrink", {"lambd": -1.0, "bias": 1.5}, [f(0, 2)], [f(1.5, 0.5)]),
    ("Erf", {}, [f(-INF, -9, 9, INF, NAN)], [f(-1, -1, 1, 1, NAN)]),
    ("Gelu", {}, [f(-1e30, 1e30, -INF)], [f(0, 1e30, NAN)]),
    ("NonMaxSuppression", {}, [BOXES, SCORES, np.array([3])], [np.array([[0, 0, 0], [0, 0, 1]])]),
    ("GlobalMaxPool", {}, [empty(1, 0, 0, 0)], [empty(1, 0, 1, 1)]),
    ("GlobalMaxPool", {}, [line()], [line(-INF)]),
    ("GlobalAveragePool", {}, [line()], [line(NAN)]),
    (
        "DynamicQuantizeLinear",
        {},
        [f(-INF, 1)],
        [np.array([0, 255], np.uint8), np.array(INF, np.float32), np.array(255, np.uint8)],
    ),
    (
        "DynamicQuantizeLinear",
        {},
        [f(1e-45, 0)],
        [np.array([255, 0], np.uint8), np.array(0, np.float32), np.array(255, np.uint8)],
    ),
]


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_result_at_the_edge_is_the_literal_one(
    run_node, operation, attributes, inputs, expected
):
    for symbolic in (False, True):
        results = run_node(operation, attributes, inputs, expected, symbolic=symbolic)
        for found, wanted in zip(results, expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-6)


@st.composite
def large_windows(draw):
    """A pooling whose window is larger than its one axis, by less than a stride."""
    kernel, dilation, stride = draw(st.integers(2, 4)), draw(st.integers(1, 3)), 4
    extent = (kernel - 1) * dilation + 1
    size = extent - draw(st.integers(1, stride - 1))
    assume(size > 0)
    attributes = {"kernel_shape": [kernel], "dilations": [dilation], "strides": [stride]}
    return {**attributes, "ceil_mode": draw(st.integers(0, 1))}, (1, 2, size)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(st.sampled_from(POOLS), large_windows())
def test_windows_larger_than_the_input_agree_with_onnxruntime(
    run_node, run_onnxruntime, operation, case
):
    attributes, shape = case
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    (wanted,) = run_onnxruntime(operation, attributes, [x])
    (found,) = run_node(operation, attributes, [x], [wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.booleans())
def test_transposed_same_padding_agrees_with_onnxruntime(
    run_node, run_onnxruntime, size, kernel, stride, lower
):
    auto_pad = "SAME_LOWER" if lower else "SAME_UPPER"
    attributes = {"strides": [stride], "auto_pad": auto_pad}
    inputs = [line(*range(1, size + 1)), line(*range(1, kernel + 1))]
    (wanted,) = run_onnxruntime("ConvTranspose", attributes, inputs)
    (found,) = run_node("ConvTranspose", attributes, inputs, [wanted])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(st.lists(st.sampled_from([-INF, -3e38, -1.0, 0.0, 1e-45, 2.0, INF]), min_size=1))
def test_quantizing_extremes_agrees_with_onnxruntime(run_node, run_onnxruntime, values):
    assume(any(values))  # of zeros alone the scale is whatever one likes
    x = f(*values)
    wanted = run_onnxruntime("DynamicQuantizeLinear", {}, [x], outputs=3)
    found = run_node("DynamicQuantizeLinear", {}, [x], wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("operation", "attributes", "inputs", "says"),
    [
        ("Conv", {"strides": [2]}, [line(1, 2), line(1, 1, 1)], r"a kernel of \(3,\) does not fit"),
        (
            "Conv",
            {"kernel_shape": [2]},
            [line(1, 2), line(1)],
            r"kernel_shape is \(2,\), W's is \(1,\)",
        ),
        ("LayerNormalization", {"axis": 3}, [line(1, 2), f(1, 2)], "axis 3 is not one of 3"),
        (
            "ConvTranspose",
            {"pads": [2, 1]},
            [line(1), line(1, 1)],
            r"padding \(2, 1\) takes more than the \(2,\) there is",
        ),
        (
            "Resize",
            {},
            [line(), None, None, np.array([1, 1, 2])],
            r"an empty axis cannot be resized: \(1, 1, 0\) to \(1, 1, 2\)",
        ),
    ],
)
def test_what_has_no_result_says_so(run_node, operation, attributes, inputs, says):
    with pytest.raises(ExecutionError, match=says):
        run_node(operation, attributes, inputs, [line(1)], constants=(3,), symbolic=True)


def test_no_warning_comes_of_empty_axes(run_node):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for operation, attributes, inputs, expected in CASES:
            run_node(operation, attributes, inputs, expected)
