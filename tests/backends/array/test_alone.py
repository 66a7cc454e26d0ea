"""A library on another device than the CPU refuses what NumPy would compute; sizes are free."""

from dataclasses import replace

import numpy as np
import onnx
import pytest

from rlx.backends.array.engine import ArrayBackend
from rlx.backends.array.fuse_linear import LINEAR
from rlx.backends.array.host import NUMPY
from rlx.backends.array.site import Fresh
from rlx.backends.protocol import CompileOptions
from rlx.program import load

HEAD = '<ir_version: 11, opset_import: ["" : 28, "ai.onnx.ml" : 5]>'


def on(device, **fields):
    """NumPy under another name, as a library with memory of its own."""
    library = replace(NUMPY, name="other", device=device, host=False, **fields)
    return ArrayBackend(library)


def program(text):
    return load(onnx.parser.parse_model(f"{HEAD}\n{text}"))


HOSTED = [
    "unique (float[n] x) => (float[m] y) { y = Unique (x) }",
    "draw (float[n] x) => (float[n] y) { y = RandomNormalLike (x) }",
    "text (string[n] x) => (string[n] y) { y = StringNormalizer (x) }",
    "label (int64[n] x) => (int64[n] y) "
    "{ y = ai.onnx.ml.LabelEncoder <keys_int64s = [1], values_int64s = [2]> (x) }",
]


@pytest.mark.parametrize("text", HOSTED, ids=lambda text: text.split()[0])
def test_what_numpy_would_compute_is_refused_where_another_device_was_promised(text):
    with pytest.raises(NotImplementedError) as caught:
        on("cuda").compile(program(text), CompileOptions())
    assert "NumPy would compute it on the host, and other computes on cuda alone" in str(
        caught.value
    )


@pytest.mark.parametrize("text", HOSTED, ids=lambda text: text.split()[0])
def test_on_the_cpu_numpy_may_help(text):
    assert on("cpu").compile(program(text), CompileOptions())


def test_sizes_are_computed_on_the_host_all_the_same():
    text = "flat (float[a, b, c] x) => (float[m, k] y) { s = Shape <end = 1> (x) o = Constant <value_ints = [-1]> () t = Concat <axis = 0> (s, o) y = Reshape (x, t) }"  # noqa: E501
    run = on("cuda").compile(program(text), CompileOptions()).run
    assert run([np.ones((2, 3, 4), np.float32)])[0].shape == (2, 12)


def linear_library():
    """A library with a kernel for products with biases, and the operations that it was asked."""
    seen = []

    def build(site):
        seen.append(site.inputs[1].shape)
        return Fresh(lambda x, w, b: x @ w + b)

    return replace(NUMPY, overrides={**NUMPY.overrides, LINEAR: build}), seen


def test_products_with_biases_of_one_input_become_one_product():
    random = np.random.default_rng(0)
    sizes = (3, 2, 5)
    held = {f"w{i}": random.standard_normal((4, n)).astype(np.float32) for i, n in enumerate(sizes)}
    held |= {f"b{i}": random.standard_normal(n).astype(np.float32) for i, n in enumerate(sizes)}
    nodes = []
    for i in range(3):
        nodes.append(onnx.helper.make_node("MatMul", ["x", f"w{i}"], [f"p{i}"], f"product{i}"))
        sides = [f"p{i}", f"b{i}"] if i else [f"b{i}", f"p{i}"]
        nodes.append(onnx.helper.make_node("Add", sides, [f"y{i}"], f"sum{i}"))
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "three",
        [info("x", 1, ["batch", 7, 4])],
        [info(f"y{i}", 1, ["batch", 7, n]) for i, n in enumerate(sizes)],
        [onnx.numpy_helper.from_array(value, name) for name, value in held.items()],
    )
    made = load(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 28)]))
    library, seen = linear_library()
    x = random.standard_normal((2, 7, 4)).astype(np.float32)
    got = ArrayBackend(library).compile(made, CompileOptions()).run([x])
    assert seen == [(4, 10)]
    for i, y in enumerate(got):
        np.testing.assert_allclose(y, x @ held[f"w{i}"] + held[f"b{i}"], rtol=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        # the product is an output, or used twice
        "a (float[2, 4] x) => (float[2, 3] p, float[2, 3] y) <float[4, 3] w = {0,1,2,3,4,5,6,7,8,9,10,11}, float[3] b = {1,2,3}> { p = MatMul (x, w) y = Add (p, b) }",  # noqa: E501
        "b (float[2, 4] x) => (float[2, 3] y) <float[4, 3] w = {0,1,2,3,4,5,6,7,8,9,10,11}, float[3] b = {1,2,3}> { p = MatMul (x, w) q = Add (p, b) y = Mul (q, p) }",  # noqa: E501
        # what is added is no bias: of one element, of two dimensions, not constant
        "c (float[2, 4] x) => (float[2, 3] y) <float[4, 3] w = {0,1,2,3,4,5,6,7,8,9,10,11}, float[1] b = {1}> { p = MatMul (x, w) y = Add (p, b) }",  # noqa: E501
        "d (float[2, 4] x) => (float[2, 3] y) <float[4, 3] w = {0,1,2,3,4,5,6,7,8,9,10,11}, float[2, 3] b = {1,2,3,4,5,6}> { p = MatMul (x, w) y = Add (p, b) }",  # noqa: E501
        "e (float[2, 4] x, float[3] b) => (float[2, 3] y) <float[4, 3] w = {0,1,2,3,4,5,6,7,8,9,10,11}> { p = MatMul (x, w) y = Add (p, b) }",  # noqa: E501
        # the weights are on the left, or not constant
        "f (float[3, 4] x) => (float[2, 4] y) <float[2, 3] w = {1,2,3,4,5,6}, float[4] b = {1,2,3,4}> { p = MatMul (w, x) y = Add (p, b) }",  # noqa: E501
    ],
    ids=lambda text: text[0],
)
def test_what_is_no_product_with_a_bias_is_left_alone(text):
    library, seen = linear_library()
    made = program(text)
    inputs = [np.ones(value.type.shape, np.float32) for value in made.inputs]
    got = ArrayBackend(library).compile(made, CompileOptions()).run(inputs)
    want = ArrayBackend(NUMPY).compile(made, CompileOptions()).run(inputs)
    assert not seen
    for y, right in zip(got, want, strict=True):
        np.testing.assert_array_equal(y, right)
