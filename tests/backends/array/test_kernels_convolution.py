"""Convolutions: literal results, every parameter against onnxruntime, and the portable plan."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest
from array_api_compat import numpy as xp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rlx.backends.array import native_numpy_convolution
from rlx.backends.array.kernels.convolution import portable_plan
from rlx.backends.array.kernels.windows import windows

QUICK = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def f(values, dtype=np.float32):
    return np.array(values, dtype)


def line(*values):
    """One image, one channel, one spatial dimension."""
    return f([[values]])


NINE = f([[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]])
BF16 = ml_dtypes.bfloat16

CASES = [
    ("Conv", {}, [line(1, 2, 4, 8), line(1, 0, -1)], [line(-3, -6)]),
    ("Conv", {"pads": [1, 1]}, [line(1, 2, 4, 8), line(1, 0, -1)], [line(-2, -3, -6, 4)]),
    ("Conv", {"strides": [2]}, [line(1, 2, 3, 4, 7), line(1, 1)], [line(3, 7)]),
    ("Conv", {"dilations": [2]}, [line(1, 2, 3, 4, 7), line(1, -1)], [line(-2, -2, -4)]),
    ("Conv", {"auto_pad": "SAME_UPPER"}, [line(1, 2, 3, 4), line(1, 1)], [line(3, 5, 7, 4)]),
    ("Conv", {"auto_pad": "SAME_LOWER"}, [line(1, 2, 3, 4), line(1, 1)], [line(1, 3, 5, 7)]),
    ("Conv", {"auto_pad": "VALID"}, [line(1, 2, 3, 4), line(1, 1)], [line(3, 5, 7)]),
    ("Conv", {}, [line(1, 2, 3), line(1, 1), f([10])], [line(13, 15)]),
    ("Conv", {}, [NINE, f(np.ones((1, 1, 2, 2)))], [f([[[[12, 16], [24, 28]]]])]),
    ("Conv", {"strides": [2, 2]}, [NINE, f([[[[1]]]])], [f([[[[1, 3], [7, 9]]]])]),
    ("Conv", {}, [f([[[1, 2], [3, 4]]]), f([[[1], [10]]])], [line(31, 42)]),
    (
        "Conv",
        {"group": 2},
        [f([[[1, 2, 3], [4, 5, 6]]]), f([[[1, 1]], [[1, -1]]])],
        [f([[[3, 5], [-1, -1]]])],
    ),
    (
        "Conv",
        {"group": 2},
        [f([[[1, 2], [3, 4], [5, 6], [7, 8]]]), f([[[1], [10]], [[10], [1]]])],
        [f([[[31, 42], [57, 68]]])],
    ),
    ("Conv", {}, [f(np.ones((1, 1, 2, 2, 2))), f(np.ones((1, 1, 2, 2, 2)))], [f([[[[[8]]]]])]),
    (
        "Conv",
        {},
        [f(np.ones((1, 512, 1)), BF16), f(np.ones((1, 512, 1)), BF16)],
        [f([[[512]]], BF16)],
    ),
    (
        "Conv",
        {},
        [f([[[0.1]]], np.float64), f([[[3]]], np.float64)],
        [f([[[0.1 * 3]]], np.float64)],
    ),
    ("ConvTranspose", {"strides": [2]}, [line(1, 2), line(1, 1, 1)], [line(1, 1, 3, 2, 2)]),
    (
        "ConvTranspose",
        {"strides": [2], "pads": [1, 1]},
        [line(1, 2), line(1, 1, 1)],
        [line(1, 3, 2)],
    ),
    (
        "ConvTranspose",
        {"strides": [2], "output_padding": [1]},
        [line(1, 2), line(1, 1, 1), f([5])],
        [line(6, 6, 8, 7, 7, 5)],
    ),
    (
        "ConvTranspose",
        {"strides": [2], "auto_pad": "SAME_UPPER"},
        [line(1, 2), line(1, 1, 1)],
        [line(1, 1, 3, 2)],
    ),
    (
        "ConvTranspose",
        {"strides": [2], "auto_pad": "SAME_LOWER"},
        [line(1, 2), line(1, 1, 1)],
        [line(1, 3, 2, 2)],
    ),
    (
        "ConvTranspose",
        {"group": 2, "dilations": [2]},
        [f([[[1], [2]]]), f([[[1, 3]], [[5, 7]]])],
        [f([[[1, 0, 3], [10, 0, 14]]])],
    ),
    ("CausalConvWithState", {}, [line(1, 2, 3), line(10, 1)], [line(1, 12, 23), line(3)]),
    (
        "CausalConvWithState",
        {},
        [line(1, 2), line(10, 1), f([100]), line(7)],
        [line(171, 112), line(2)],
    ),
    (
        "CausalConvWithState",
        {"activation": "silu"},
        [line(0, 1), line(0, 1)],
        [line(0, 1 / (1 + np.exp(-1))), line(1)],
    ),
]


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_convolution_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    weights = range(1, len(inputs))
    for results in (
        run_node(operation, attributes, inputs, expected),
        run_node(operation, attributes, inputs, expected, constants=weights, symbolic=True),
    ):
        for found, wanted in zip(results, expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-6)


@st.composite
def convolutions(draw):
    """Attributes, the shape of x and the shape of the weights."""
    axes, group = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2, 3]))
    per_axis = {key: [draw(st.integers(1, 3)) for _ in range(axes)] for key in "ksd"}
    attributes = {
        "strides": per_axis["s"],
        "dilations": per_axis["d"],
        "group": group,
        "pads": [draw(st.integers(0, 2)) for _ in range(2 * axes)],
    }
    sizes = [
        (k - 1) * d + draw(st.integers(1, 6))
        for k, d in zip(per_axis["k"], per_axis["d"], strict=True)
    ]
    depth, maps = draw(st.sampled_from([1, 1, 2])), group * draw(st.integers(1, 2))
    x = (draw(st.integers(1, 2)), group * depth, *sizes)
    return attributes, x, (maps, depth, *per_axis["k"])


def values(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(convolutions())
def test_conv_agrees_with_onnxruntime(run_node, run_onnxruntime, case):
    attributes, x_shape, w_shape = case
    inputs = [values(x_shape, 0), values(w_shape, 1), values(w_shape[:1], 2)]
    (wanted,) = run_onnxruntime("Conv", attributes, inputs)
    (found,) = run_node("Conv", attributes, inputs, [wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(convolutions(), st.sampled_from(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
def test_conv_transpose_agrees_with_onnxruntime(run_node, run_onnxruntime, case, auto_pad):
    attributes, x_shape, (maps, depth, *kernel) = case
    if auto_pad.startswith("SAME"):  # otherwise onnxruntime's result is smaller than ONNX says
        steps = zip(attributes["strides"], attributes["dilations"], kernel, strict=True)
        assume(all((k - 1) * d + 1 >= stride for stride, d, k in steps))
    if auto_pad != "NOTSET":
        attributes = {k: v for k, v in attributes.items() if k != "pads"} | {"auto_pad": auto_pad}
    x_shape = (x_shape[0], maps, *(n + 4 for n in x_shape[2:]))
    inputs = [values(x_shape, 0), values((maps, depth, *kernel), 1)]
    (wanted,) = run_onnxruntime("ConvTranspose", attributes, inputs)
    (found,) = run_node("ConvTranspose", attributes, inputs, [wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@QUICK
@given(convolutions())
def test_the_plans_for_numpy_and_for_any_library_agree(case):
    attributes, x_shape, w_shape = case
    x, w = values(x_shape, 0), values(w_shape, 1)
    shape = windows(attributes, w_shape[2:], x_shape[2:])
    plans = [
        native_numpy_convolution.plan(shape, x_shape, w_shape, attributes["group"]),
        portable_plan(xp, shape, x_shape, w_shape, attributes["group"]),
    ]
    one, two = (plan(x, w) for plan in plans)
    np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("group", [1, 2, 8])
def test_blocks_do_not_change_the_result(monkeypatch, group):
    x, w = values((2, 8, 9, 10), 0), values((16, 8 // group, 3, 3), 1)
    shape = windows({"pads": (1, 1, 1, 1)}, (3, 3), (9, 10))
    whole = native_numpy_convolution.plan(shape, x.shape, w.shape, group)(x, w)
    monkeypatch.setattr(native_numpy_convolution, "BLOCK", 1200)
    parts = native_numpy_convolution.plan(shape, x.shape, w.shape, group)(x, w)
    np.testing.assert_allclose(parts, whole, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("padding", [0, 1])
def test_images_of_few_windows_are_multiplied_at_once(monkeypatch, padding):
    x, w = values((5, 3, 4, 5), 0), values((4, 3, 3, 2), 1)
    shape = windows({"pads": (padding,) * 4, "strides": (1, 2)}, (3, 2), (4, 5))
    found = native_numpy_convolution.plan(shape, x.shape, w.shape, 1)(x, w)
    monkeypatch.setattr(native_numpy_convolution, "FEW", 0)
    alone = native_numpy_convolution.plan(shape, x.shape, w.shape, 1)(x, w)
    np.testing.assert_allclose(found, alone, rtol=1e-5, atol=1e-6)


def test_a_transposed_view_is_convolved_like_its_copy():
    x, w = values((1, 5, 6, 4), 0), values((2, 4, 3, 3), 1)
    turned = x.transpose(0, 3, 1, 2)
    shape = windows({}, (3, 3), (5, 6))
    plan = native_numpy_convolution.plan(shape, turned.shape, w.shape, 1)
    np.testing.assert_array_equal(plan(turned, w), plan(np.ascontiguousarray(turned), w))


def test_a_window_that_does_not_fit_says_so():
    message = r"^a window of 7 does not fit into 2 with padding 1, 1$"
    with pytest.raises(ValueError, match=message):
        windows({"pads": (1, 1), "dilations": (3,)}, (3,), (2,))


def test_threads_do_not_share_working_memory():
    x, w = values((1, 6, 12, 12), 0), values((8, 6, 3, 3), 1)
    shape = windows({"pads": (1, 1, 1, 1)}, (3, 3), (12, 12))
    plan = native_numpy_convolution.plan(shape, x.shape, w.shape, 1)
    inputs = [x * scale for scale in range(1, 9)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda one: [plan(one, w) for _ in range(20)][-1], inputs))
    for one, found in zip(inputs, results, strict=True):
        np.testing.assert_array_equal(found, plan(one, w))


@pytest.mark.parametrize("block", [1, 40, 90, 10**6])
def test_tiles_of_any_size_do_not_change_a_volume(monkeypatch, block):
    x, w = values((2, 2, 4, 5, 6), 0), values((3, 2, 2, 1, 2), 1)
    shape = windows({"strides": (1, 2, 1)}, (2, 1, 2), (4, 5, 6))
    monkeypatch.setattr(native_numpy_convolution, "BLOCK", block)
    found = native_numpy_convolution.plan(shape, x.shape, w.shape, 1)(x, w)
    wanted = portable_plan(xp, shape, x.shape, w.shape, 1)(x, w)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_tiles_are_in_order_and_leave_nothing_out():
    assert list(native_numpy_convolution.tiles((2, 3), 6)) == [((0, 0), (2, 3), 0)]
    assert list(native_numpy_convolution.tiles((2, 3), 2)) == [
        ((0, 0), (1, 2), 0),
        ((0, 2), (1, 1), 2),
        ((1, 0), (1, 2), 3),
        ((1, 2), (1, 1), 5),
    ]
