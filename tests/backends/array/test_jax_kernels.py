"""What jax does its own way: conversions, convolutions and products, held against NumPy."""

from __future__ import annotations

import re
import warnings

import ml_dtypes
import numpy as np
import onnx
import pytest

from rlx.backends.array import jax, numpy
from rlx.backends.array.execute import follow
from rlx.backends.array.native_jax_namespace import divide, divide_wide, namespace
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError
from rlx.program import load

pytestmark = pytest.mark.needs("jax")
EXTREMES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, -1, 300, -300, 70000, 3e9, -3e9, 1e19]
SOURCES = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2,
           ml_dtypes.float8_e4m3fn, ml_dtypes.float4_e2m1fn)  # fmt: skip
TARGETS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int4",
           "uint4", "int2", "uint2", "bool", "float16", "bfloat16", "complex64")  # fmt: skip


def both(model: onnx.ModelProto, *inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first output on jax-cpu and on numpy."""
    results = []
    for backend in (jax, numpy):
        opened = backend.open_cpu(DeviceSpec("cpu"), {})
        executable = opened.compile(load(model), CompileOptions())
        assert executable.uncompiled is None
        results.append(executable.to_host(executable.run(list(inputs))[0]))
    return results[0], results[1]


def one_node(
    operation: str, inputs: list[np.ndarray], *constants: np.ndarray, **attributes
) -> onnx.ModelProto:
    names = [f"x{place}" for place in range(len(inputs))]
    given = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape
        )
        for name, x in zip(names, inputs, strict=True)
    ]
    kept = [onnx.numpy_helper.from_array(x, f"c{at}") for at, x in enumerate(constants)]
    result = onnx.helper.make_tensor_value_info("y", given[0].type.tensor_type.elem_type, None)
    names += [x.name for x in kept]
    node = onnx.helper.make_node(operation, names, ["y"], **attributes)
    graph = onnx.helper.make_graph([node], "one", given, [result], kept)
    opset = onnx.helper.make_opsetid("", 28)
    return onnx.helper.make_model(graph, opset_imports=[opset], ir_version=11)


@pytest.mark.parametrize("source", SOURCES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("target", TARGETS)
def test_what_no_integer_stands_for_becomes_what_numpy_makes_it(source, target):
    from rlx.backends.array.native_jax_compile import settings
    from rlx.backends.array.native_jax_devices import cpu
    from rlx.backends.array.native_jax_namespace import astype

    dtype = np.dtype(getattr(ml_dtypes, target, target))
    with warnings.catch_warnings(), settings(cpu()):
        warnings.simplefilter("ignore")
        values = [v for v in EXTREMES if target != "uint32" or v != -3e9]  # NumPy wavers there
        x = np.array(values).astype(source)
        expected = x.astype(dtype)
        found = np.asarray(astype(x, dtype))
    assert found.dtype == dtype
    assert [str(value) for value in found] == [str(value) for value in expected]


def whole(*shape: int) -> np.ndarray:
    """Small whole numbers, so that sums in any order are the same."""
    return (np.arange(np.prod(shape), dtype=np.float32) * 7 % 11 - 5).reshape(shape)


CONVOLUTIONS = {
    "one element": ((2, 3, 5, 4), (6, 3, 1, 1), {}),
    "one element, strided": ((1, 3, 5, 4), (6, 3, 1, 1), {"strides": (2, 3)}),
    "gathered": ((2, 3, 6, 5), (4, 3, 3, 2), {"pads": (1, 0, 2, 1), "strides": (2, 1)}),
    "dilated": ((1, 2, 9, 9), (3, 2, 3, 3), {"dilations": (2, 3), "pads": (0, 1, 0, 1)}),
    "a channel a group": ((2, 4, 6, 6), (8, 1, 3, 3), {"group": 4, "strides": (2, 2)}),
    "groups": ((1, 6, 5, 5), (4, 3, 2, 2), {"group": 2, "auto_pad": "SAME_UPPER"}),
    "large": ((1, 32, 34, 34), (4, 32, 3, 3), {"pads": (1, 1, 1, 1), "strides": (2, 1)}),
    "many elements": ((1, 2, 200), (3, 2, 100), {"strides": (7,), "dilations": (1,)}),
    "many elements, padded": ((2, 1, 50), (3, 1, 70), {"pads": (20, 30)}),
    "three axes": ((1, 2, 4, 5, 3), (3, 2, 2, 2, 2), {"pads": (1, 0, 0, 0, 1, 0)}),
    "no images": ((0, 3, 5, 5), (2, 3, 3, 3), {}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_are_numpys(name):
    x, w, attributes = CONVOLUTIONS[name]
    inputs = [whole(*x), whole(*w), whole(w[0])]
    found, expected = both(one_node("Conv", inputs, **attributes), *inputs)
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, np.float32) for name in CONVOLUTIONS),
        *(("large", dtype) for dtype in (np.float64, np.float16, ml_dtypes.bfloat16)),
    ],
)
def test_convolutions_with_constant_weights_are_numpys(name, dtype):
    x, w, attributes = CONVOLUTIONS[name]
    given, *constants = (whole(*shape).astype(dtype) for shape in (x, w, w[:1]))
    found, expected = both(one_node("Conv", [given], *constants, **attributes), given)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.array_equal(found, expected)


def test_weights_are_laid_out_for_xla_once():
    """Else it transposes them at each run, and holds them twice."""
    x, w = whole(1, 3, 8, 8), whole(4, 3, 3, 3)
    opened = jax.open_cpu(DeviceSpec("cpu"), {})
    plan = opened.compile(load(one_node("Conv", [x], w)), CompileOptions())._plan
    (at,) = plan.weights
    assert np.array_equal(plan.slots[at], w.transpose(2, 3, 1, 0))


def test_a_kernel_that_fits_nothing_is_refused_by_the_run():
    model = one_node("Conv", [whole(1, 3, 8, 8)], whole(4, 3, 3, 3), kernel_shape=(2, 2))
    executable = jax.open_cpu(DeviceSpec("cpu"), {}).compile(load(model), CompileOptions())
    with pytest.raises(ExecutionError) as refused:
        executable.run([whole(1, 3, 8, 8)])
    assert "kernel_shape is (2, 2), W's is (3, 3)" in str(refused.value)


TRANSPOSED = {
    "plain": ((2, 3, 4, 5), (3, 2, 3, 2), {}),
    "strided": ((1, 3, 4, 4), (3, 2, 3, 3), {"strides": (2, 3), "output_padding": (1, 2)}),
    "shorter than its stride": ((1, 1, 3), (1, 2, 2), {"strides": (4,)}),
    "padded": ((1, 2, 5, 5), (2, 2, 3, 3), {"pads": (1, 2, 0, 1), "strides": (2, 2)}),
    "dilated": ((1, 2, 4, 4), (2, 3, 2, 3), {"dilations": (3, 2), "strides": (2, 1)}),
    "groups": ((1, 4, 3, 3), (4, 2, 2, 2), {"group": 2, "strides": (2, 2)}),
    "a stated shape": ((1, 2, 3, 3), (2, 2, 3, 3), {"output_shape": (8, 9), "strides": (3, 3)}),
    "same": ((1, 2, 5), (2, 1, 3), {"auto_pad": "SAME_LOWER", "strides": (2,)}),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_convolutions_are_numpys(name):
    x, w, attributes = TRANSPOSED[name]
    inputs = [whole(*x), whole(*w), whole(w[1] * attributes.get("group", 1))]
    found, expected = both(one_node("ConvTranspose", inputs, **attributes), *inputs)
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(("operation", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
@pytest.mark.parametrize("lengths", [[30, 30], [17, 30]])
def test_long_sequences_are_one_step_repeated(operation, gates, lengths):
    shapes = [(30, 2, 3), (2, gates * 4, 3), (2, gates * 4, 4), (2, gates * 8)]
    inputs = [whole(*shape) / 20 for shape in shapes] + [np.int32(lengths)]
    model = one_node(operation, inputs, hidden_size=4, direction="bidirectional")
    found, expected = both(model, *inputs)
    assert np.allclose(found, expected, atol=1e-5)
    assert traced(model, inputs).count("scan[") == 2


PRODUCTS = {
    "MatMul": ([(2, 3), (3, 4)], {}),
    "Gemm": ([(2, 3), (4, 3), (4,)], {"transB": 1, "alpha": 0.5}),
    "Einsum": ([(2, 3), (3, 4)], {"equation": "ij,jk->ik"}),
    "Conv": ([(1, 2, 5), (3, 2, 2)], {}),
    "ConvTranspose": ([(1, 2, 5), (2, 3, 2)], {}),
    "RNN": ([(3, 1, 2), (1, 4, 2), (1, 4, 4)], {"hidden_size": 4}),
}


@pytest.mark.parametrize("operation", PRODUCTS)
def test_products_are_asked_for_in_full_precision(operation):
    """On GPUs and TPUs, XLA computes them in less unless it is told when it compiles."""
    shapes, attributes = PRODUCTS[operation]
    inputs = [np.ones(shape, np.float32) for shape in shapes]
    text = traced(one_node(operation, inputs, **attributes), inputs)
    products = re.findall(r"dot_general\[|conv_general_dilated\[", text)
    assert len(products) > 0
    assert len(re.findall(r"Precision\.HIGHEST, Precision\.HIGHEST", text)) == len(products)


def traced(model: onnx.ModelProto, inputs: list[np.ndarray]) -> str:
    """What jax is given to compile, as text."""
    import jax as library

    opened = jax.open_cpu(DeviceSpec("cpu"), {})
    plan = opened.compile(load(model), CompileOptions())._plan

    def steps(*given):
        return follow(plan, [*given, *plan.slots[len(given) :]])

    return str(opened._library.guard(library.make_jaxpr(steps), *inputs))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("columns", [1, 64])
def test_a_quotient_by_way_of_float64_is_rounded_as_numpy_rounds_it(dtype, columns):
    """What GPUs get: there is none here, but the numbers are the same."""
    generator = np.random.default_rng(0)
    x, y = (generator.standard_normal((500, n)).astype(dtype) for n in (64, columns))
    x[0], y[1] = 0, 0
    library = jax.open_cpu(DeviceSpec("cpu"), {})._library
    with np.errstate(all="ignore"):
        wanted = x / y
    found = library.guard(divide_wide, library.to_native(x), library.to_native(y))
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found).view(np.uint8), wanted.view(np.uint8))


def test_a_gpu_divides_by_way_of_float64_and_a_cpu_does_not():
    assert namespace("cpu").divide is divide
    assert namespace("cuda").divide is namespace("rocm").divide is divide_wide
