"""Resize: literal results, and every mode against ONNX's reference."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

BF16 = ml_dtypes.bfloat16
QUICK = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def f(*values, dtype=np.float32):
    return np.array(values, dtype)


def n(*values):
    return np.array(values, np.int64)


DOUBLE, HALF = f(2), f(0.5)
LINEAR = {"mode": "linear"}
CORNERS = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
ASYMMETRIC = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
CROP = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
ASPECT = {"axes": [0, 1], **ASYMMETRIC}

CASES = [
    ({}, [f(1, 2), None, DOUBLE], f(1, 1, 2, 2)),
    ({}, [f(1, 2, 3, 4), None, HALF], f(1, 3)),
    ({"nearest_mode": "round_prefer_ceil"}, [f(1, 2, 3, 4), None, HALF], f(2, 4)),
    ({"nearest_mode": "ceil"}, [f(1, 2, 3, 4), None, HALF], f(2, 4)),
    (ASYMMETRIC, [np.array(["a", "b"], object), None, DOUBLE], np.array(list("aabb"), object)),
    (ASYMMETRIC, [f(1, 0, dtype=bool), None, DOUBLE], f(1, 1, 0, 0, dtype=bool)),
    (ASYMMETRIC, [f(1, 2, 3), None, f(1.7)], f(1, 1, 2, 2, 3)),
    (LINEAR, [f(0, 4), None, DOUBLE], f(0, 1, 3, 4)),
    (LINEAR, [f(0, 4, 8, 12), None, HALF], f(2, 10)),
    (LINEAR, [f(0, 3, dtype=np.int32), None, DOUBLE], f(0, 1, 2, 3, dtype=np.int32)),
    (LINEAR, [f(0, 255, dtype=np.uint8), None, DOUBLE], f(0, 64, 191, 255, dtype=np.uint8)),
    (LINEAR, [f(0, 4, dtype=BF16), None, DOUBLE], f(0, 1, 3, 4, dtype=BF16)),
    (LINEAR, [f(0, 4, dtype=np.float64), None, DOUBLE], f(0, 1, 3, 4, dtype=np.float64)),
    ({**LINEAR, "antialias": 1}, [f(0, 4, 8, 12), None, HALF], f(2.5, 9.5)),
    (CORNERS, [f(0, 6), None, None, n(4)], f(0, 2, 4, 6)),
    (CORNERS, [f(7, 9), None, None, n(1)], f(7)),
    ({"mode": "cubic"}, [f(3, 3, 3), None, DOUBLE], f(3, 3, 3, 3, 3, 3)),
    (
        {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1},
        [f(2, 2), None, DOUBLE],
        f(2, 2, 2, 2),
    ),
    (CROP, [f(0, 1, 2, 3, 4), f(0.25, 0.75), None, n(3)], f(1, 2, 3)),
    ({**CROP, "extrapolation_value": -7.0}, [f(0, 1, 2), f(0, 2), None, n(3)], f(0, 2, -7)),
    (
        {"coordinate_transformation_mode": "pytorch_half_pixel", "mode": "linear"},
        [f(5, 6, 7), None, None, n(1)],
        f(5),
    ),
    (ASYMMETRIC, [f([1, 2], [3, 4]), None, f(1, 2)], f([1, 1, 2, 2], [3, 3, 4, 4])),
    ({**ASYMMETRIC, "axes": [-1]}, [f([1, 2]), None, DOUBLE], f([1, 1, 2, 2])),
    (
        {**ASPECT, "keep_aspect_ratio_policy": "not_larger"},
        [f([1, 2]), None, None, n(9, 4)],
        f([1, 1, 2, 2], [1, 1, 2, 2]),
    ),
    (
        {**ASPECT, "keep_aspect_ratio_policy": "not_smaller"},
        [f([1, 2]), None, None, n(1, 4)],
        f([1, 1, 2, 2], [1, 1, 2, 2]),
    ),
]


@pytest.mark.parametrize(("attributes", "inputs", "expected"), CASES)
def test_the_resized_array_is_the_literal_one(run_node, attributes, inputs, expected):
    for results in (
        run_node("Resize", attributes, inputs, [expected]),
        run_node("Resize", attributes, inputs, [expected], constants=(1, 2, 3), symbolic=True),
    ):
        assert (results[0].dtype, results[0].shape) == (expected.dtype, expected.shape)
        if expected.dtype == object:
            assert results[0].tolist() == expected.tolist()
        else:
            found, wanted = results[0].astype(float), expected.astype(float)
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


@st.composite
def resizings(draw):
    """Attributes and inputs that ONNX's reference accepts."""
    axes = draw(st.integers(1, 2))
    shape = [draw(st.integers(1, 6)) for _ in range(axes)]
    modes = ["half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric"]
    modes += ["pytorch_half_pixel", "tf_crop_and_resize"]
    attributes = {
        "mode": draw(st.sampled_from(["nearest", "linear", "cubic"])),
        "coordinate_transformation_mode": draw(st.sampled_from(modes)),
    }
    if attributes["mode"] == "nearest":
        rounding = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        attributes["nearest_mode"] = draw(st.sampled_from(rounding))
    else:
        attributes["antialias"] = draw(st.integers(0, 1))
        attributes["exclude_outside"] = draw(st.integers(0, 1))
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    roi = np.array([draw(st.sampled_from([0.0, 0.25]))] * axes + [1.25] * axes, np.float32)
    if draw(st.booleans()):
        return attributes, [x, roi, None, n(*(draw(st.integers(1, 9)) for _ in shape))]
    eighths = [draw(st.integers(2, 24)) for _ in shape]
    assume(all(e * size >= 8 for e, size in zip(eighths, shape, strict=True)))
    return attributes, [x, roi, np.array(eighths, np.float32) / 8]


@QUICK
@given(resizings())
def test_resize_agrees_with_the_reference(run_node, case):
    attributes, inputs = case
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    node = onnx.helper.make_node("Resize", names, ["y"], **attributes)
    given_inputs = {k: v for k, v in zip(names, inputs, strict=True) if k}
    (wanted,) = ReferenceEvaluator(node).run(None, given_inputs)
    (found,) = run_node("Resize", attributes, inputs, [wanted])
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
