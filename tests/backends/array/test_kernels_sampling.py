"""Sampling between pixels: literal results, and GridSample and DeformConv against references."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

QUICK = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def f(values, dtype=np.float32):
    return np.array(values, dtype)


def n(*values):
    return np.array(values, np.int64)


LINE = f([[[2, 4, 8]]])
"""One image of one row of three pixels, as (N, C, L)."""
ALIGNED = {"align_corners": 1}
IMAGE = f([[[[1, 2], [3, 4]]]])
SHIFT = f([[[1, 0, 0.5], [0, 1, 0]]])
OUTPUT = {"coordinate_transformation_mode": "output_half_pixel"}


def at(*places):
    """A grid over a line."""
    return f([[[place] for place in places]])


CASES = [
    ("GridSample", ALIGNED, [LINE, at(-1, 0, 0.5, 1)], f([[[2, 4, 6, 8]]])),
    ("GridSample", {}, [LINE, at(-1, 1)], f([[[1, 4]]])),
    ("GridSample", {"padding_mode": "border"}, [LINE, at(-9, 9)], f([[[2, 8]]])),
    ("GridSample", {**ALIGNED, "padding_mode": "reflection"}, [LINE, at(-1.5, 2)], f([[[3, 4]]])),
    ("GridSample", {**ALIGNED, "mode": "nearest"}, [LINE, at(-0.9, 0.8, 5)], f([[[2, 8, 0]]])),
    (
        "GridSample",
        {**ALIGNED, "mode": "nearest"},
        [f([[[1, 2, 3]]], np.int32), at(-1, 1)],
        f([[[1, 3]]], np.int32),
    ),
    ("GridSample", {**ALIGNED, "mode": "cubic"}, [f([[[5, 5, 5, 5]]]), at(0)], f([[[5]]])),
    ("GridSample", ALIGNED, [IMAGE, f([[[[0, 0], [1, -1]]]])], f([[[[2.5, 2]]]])),
    ("AffineGrid", {}, [SHIFT, n(1, 1, 1, 2)], f([[[[0, 0], [1, 0]]]])),
    ("AffineGrid", ALIGNED, [SHIFT, n(1, 1, 2, 1)], f([[[[-0.5, -1]], [[-0.5, 1]]]])),
    (
        "DeformConv",
        {},
        [IMAGE, f([[[[10]]]]), f(np.zeros((1, 2, 2, 2)))],
        f([[[[10, 20], [30, 40]]]]),
    ),
    (
        "DeformConv",
        {},
        [IMAGE, f([[[[1]]]]), f(np.full((1, 2, 2, 2), 0.5)), f([7]), f(np.full((1, 1, 2, 2), 2))],
        f([[[[12, 10], [10.5, 9]]]]),
    ),
    ("RoiAlign", OUTPUT, [IMAGE, f([[0, 0, 2, 2]]), n(0)], f([[[[3.25]]]])),
    (
        "RoiAlign",
        {**OUTPUT, "sampling_ratio": 1, "output_width": 2},
        [IMAGE, f([[0, 0, 1, 1]]), n(0)],
        f([[[[2.25, 2.75]]]]),
    ),
    (
        "RoiAlign",
        {},
        [IMAGE, np.zeros((0, 4), np.float32), n()],
        np.zeros((0, 1, 1, 1), np.float32),
    ),
    ("MaxRoiPool", {"pooled_shape": [1, 2]}, [IMAGE, f([[0, 0, 0, 1, 1]])], f([[[[3, 4]]]])),
    (
        "MaxRoiPool",
        {"pooled_shape": [1, 1], "spatial_scale": 0.5},
        [IMAGE, f([[0, 2, 0, 2, 0]])],
        f([[[[2]]]]),
    ),
]


@pytest.mark.parametrize(("operation", "attributes", "inputs", "expected"), CASES)
def test_the_sample_is_the_literal_one(run_node, operation, attributes, inputs, expected):
    for constants in ((), range(1, len(inputs))):
        (found,) = run_node(operation, attributes, inputs, [expected], constants)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def reference(operation, attributes, inputs):
    names = [f"x{i}" for i in range(len(inputs))]
    node = onnx.helper.make_node(operation, names, ["y"], **attributes)
    return ReferenceEvaluator(node).run(None, dict(zip(names, inputs, strict=True)))[0]


@QUICK
@given(
    st.sampled_from(["nearest", "linear", "cubic"]),
    st.sampled_from(["zeros", "border", "reflection"]),
    st.integers(0, 1),
    st.lists(st.integers(2, 4), min_size=1, max_size=3),
    st.integers(0, 99),
)
def test_grid_sample_agrees_with_the_reference(run_node, mode, padding, align, shape, seed):
    random = np.random.default_rng(seed)
    x = random.standard_normal((2, 1, *shape)).astype(np.float32)
    grid = random.uniform(-1.6, 1.6, (2, *(2,) * len(shape), len(shape))).astype(np.float32)
    attributes = {"mode": mode, "padding_mode": padding, "align_corners": align}
    wanted = reference("GridSample", attributes, [x, grid])
    (found,) = run_node("GridSample", attributes, [x, grid], [wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align_agrees_with_the_reference(run_node, mode, ratio):
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 3, 7, 6)).astype(np.float32)
    corners = random.uniform(-2, 5, (5, 2))
    rois = np.concatenate((corners, corners + random.uniform(0.5, 5, (5, 2))), 1)
    inputs = [x, rois.astype(np.float32), n(0, 1, 1, 0, 1)]
    attributes = {"mode": mode, "sampling_ratio": ratio, "output_height": 3, "output_width": 2}
    attributes["spatial_scale"] = 0.75
    wanted = reference("RoiAlign", attributes, inputs)
    (found,) = run_node("RoiAlign", attributes, inputs, [wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-5)


@pytest.mark.needs("onnxruntime")
@QUICK
@given(st.integers(0, 999), st.sampled_from([0.5, 1.0, 1.6]))
def test_max_roi_pool_agrees_with_onnxruntime(run_node, run_onnxruntime, seed, scale):
    random = np.random.default_rng(seed)
    x = random.standard_normal((2, 2, 6, 5)).astype(np.float32)
    corners = random.integers(0, 5, (3, 2))
    batch = random.integers(0, 2, (3, 1))
    rois = np.concatenate((batch, corners, corners + random.integers(0, 5, (3, 2))), 1)
    inputs = [x, rois.astype(np.float32)]
    attributes = {"pooled_shape": [3, 2], "spatial_scale": scale}
    (wanted,) = run_onnxruntime("MaxRoiPool", attributes, inputs, opset=21)
    (found,) = run_node("MaxRoiPool", attributes, inputs, [wanted])
    np.testing.assert_allclose(found, wanted)


def test_integers_are_not_interpolated(run_node):
    x = f([[[1, 2]]], np.int32)
    with pytest.raises(NotImplementedError, match="GridSample: int32 cannot be interpolated"):
        run_node("GridSample", {}, [x, at(0)], [x])
