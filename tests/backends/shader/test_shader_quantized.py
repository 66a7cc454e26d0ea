"""Quantized products, without float64: sums are exact however long, and halves go to even."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from rlx.backends.protocol import CompileOptions
from rlx.backends.shader.backend import ShaderBackend
from rlx.backends.shader.quantized import _stored
from rlx.program import load

DRAW = np.random.default_rng(11)


@pytest.mark.parametrize("name", ["int8", "uint8"])
def test_a_scaled_sum_is_rounded_exactly(run, name):
    """Against float64, which holds the product; halves, and scales far too small and too large."""
    totals = DRAW.integers(-(1 << 23), 1 << 23, 4000).astype(np.int32)
    scales = (2.0 ** DRAW.uniform(-26, -12, 4000)).astype(np.float32)
    halves = DRAW.integers(-300, 300, 1000).astype(np.int32)
    extreme = np.array([0, 1, -1, 7, -7, 1 << 23, -(1 << 23), 3], np.int32)
    powers = np.array([1e-38, 0.5, 2.0**24, 3e38], np.float32)
    a = np.concatenate([totals, halves, halves, np.repeat(extreme, len(powers))])
    half, quarter = np.full(1000, 0.5, np.float32), np.full(1000, 0.25, np.float32)
    b = np.concatenate([scales, half, quarter, np.tile(powers, len(extreme))])
    limits = np.iinfo(name)
    zero = np.array(3, name)
    wanted = np.rint(a.astype(np.float64) * b.astype(np.float64)) + 3
    found = run(lambda x, y, z: _stored(x, y, z, name), a, b, zero)
    assert found.dtype == name
    np.testing.assert_array_equal(found, np.clip(wanted, limits.min, limits.max).astype(name))


@pytest.mark.parametrize("depth", [200, 257, 258, 1000])
def test_long_sums_of_integers_are_exact(driver, depth):
    """Beyond 257 products of the largest differences float32 would round."""
    a = np.full((3, depth), 255, np.uint8)
    b = DRAW.integers(250, 256, (depth, 2)).astype(np.uint8)
    kinds = (TensorProto.UINT8, TensorProto.UINT8, TensorProto.INT32)
    shapes = (a.shape, b.shape, (3, 2))
    x, y, z = map(helper.make_tensor_value_info, "aby", kinds, shapes)
    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    program = load(helper.make_model(helper.make_graph([node], "deep", [x, y], [z])))
    executable = ShaderBackend(driver, "shaders").compile(program, CompileOptions())
    (found,) = executable.run([a, b])
    wanted = a.astype(np.int32) @ b.astype(np.int32)
    np.testing.assert_array_equal(executable.to_host(found), wanted)
