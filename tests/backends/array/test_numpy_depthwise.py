"""Depthwise convolution in NumPy, in each of its ways, against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlx.backends.array import native_numpy_depthwise

pytestmark = pytest.mark.needs("onnxruntime")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_depthwise_agrees(run_node, run_onnxruntime, data):
    """Any kernel, stride, dilation and padding, several maps a channel, blocks of few channels."""
    draw = data.draw
    short = draw(st.sampled_from([0, 2]))
    kernel = [draw(st.integers(1, 8)) for _ in range(2)]
    dilations = [draw(st.integers(1, 2)) for _ in range(2)]
    pads = [draw(st.integers(0, size)) for size in kernel * 2]
    channels, each = draw(st.integers(2, 5)), draw(st.sampled_from([1, 1, 2]))
    least = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    sizes = [size + draw(st.integers(0, 5)) for size in least]
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    x = generator.standard_normal((2, channels, *sizes)).astype(np.float32)
    w = generator.standard_normal((channels * each, 1, *kernel)).astype(np.float32)
    strides = [draw(st.integers(1, 3 if short else 1)) for _ in range(2)]
    attributes = {"group": channels, "strides": strides, "dilations": dilations, "pads": pads}
    (wanted,) = run_onnxruntime("Conv", attributes, [x, w])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native_numpy_depthwise, "SHORT", short)
        patch.setattr(native_numpy_depthwise, "BLOCK", draw(st.sampled_from([1, 4000, 1 << 20])))
        (found,) = run_node("Conv", attributes, [x, w], [wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_what_lies_in_other_channels_does_not_leak(run_node):
    """Rows run on into the next channel's padding, and what comes of that is dropped."""
    x = np.ones((1, 3, 9, 9), np.float32)
    x[0, 1] = np.nan
    w = np.ones((3, 1, 7, 7), np.float32)
    (found,) = run_node("Conv", {"group": 3, "pads": [3] * 4}, [x, w], [x])
    assert np.isnan(found[0, 1]).all()
    assert found[0, 0].min() == found[0, 2].min() == 16
    assert found[0, 0].max() == found[0, 2].max() == 49


@pytest.mark.parametrize("special", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["x", "w"])
def test_zeros_of_the_short_way_meet_nothing_special(run_node, run_onnxruntime, where, special):
    """Rows that no window has, and rows of the kernel that lie outside, do not spread it."""
    generator = np.random.default_rng(0)
    inputs = {
        "x": generator.standard_normal((1, 2, 4, 6)).astype(np.float32),
        "w": generator.standard_normal((2, 1, 3, 3)).astype(np.float32),
    }
    inputs[where][0, 0, 0, 1] = special
    attributes = {"group": 2, "pads": [1] * 4}
    (wanted,) = run_onnxruntime("Conv", attributes, [*inputs.values()])
    (found,) = run_node("Conv", attributes, [*inputs.values()], [wanted])
    assert np.isfinite(found).any()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
