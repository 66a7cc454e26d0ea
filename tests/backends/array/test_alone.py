"""A library on another device than the CPU refuses what NumPy would compute; sizes are free."""

from dataclasses import replace

import numpy as np
import onnx
import pytest

from rlx.backends.array.engine import ArrayBackend
from rlx.backends.array.host import NUMPY
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
