"""The mlx backend: what it opens, threads, indices, its own kernels, and compiled programs."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import parser

from rlx.backends.protocol import CompileOptions, Found
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError, SettingError, Unavailable
from rlx.program import load

pytestmark = pytest.mark.needs("mlx")
HEAD = '<ir_version: 11, opset_import: ["" : 24]>'
MANY = """g (float[n,4] x) => (float[n,3] y, float[n,3] z)
<float[4,3] w = {1, -1, 2, 0, 1, 1, 3, 0, 1, 1, 2, 0}, float[3] b = {1, 2, 3}> {
  h = MatMul(x, w)
  y = Add(h, b)
  z = Softmax(y)
}"""


def opened(options=None, index=None):
    from rlx.backends.array.mlx import open_mlx

    return open_mlx(DeviceSpec("mlx", index), options or {})


def compiled(text, options=None):
    return opened(options).compile(load(parser.parse_model(HEAD + text)), CompileOptions())


def on_host(executable, inputs):
    return [executable.to_host(one) for one in executable.run(inputs)]


def on_numpy(program, inputs):
    from rlx.backends.array.numpy import open_cpu

    backend = open_cpu(DeviceSpec("cpu"), {})
    return backend.compile(program, CompileOptions()).run(inputs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fast": 1}, "mlx has the option compile, got fast. Fix: remove the others."),
        ({"compile": "yes"}, "compile is true or false, got 'yes'. Fix: write one of them."),
    ],
)
def test_options_that_mean_nothing_are_refused(options, message):
    """There is one option, and it is true or false."""
    with pytest.raises(SettingError) as caught:
        opened(options)
    assert str(caught.value) == message


def test_an_index_that_is_not_there_is_unavailable():
    """The message counts what there is."""
    with pytest.raises(
        Unavailable, match=r"^mlx has \d+ device\(s\), got mlx:77\. Fix: ask for mlx"
    ):
        opened(index=77)


def test_compiling_where_mlx_would_silently_not_is_refused(monkeypatch):
    """On a CPU `mx.compile` needs g++; without it, it runs programs as they are."""
    import mlx.core as mx

    from rlx.backends.array.native_mlx_library import why_not_compiled

    monkeypatch.setenv("PATH", "")
    assert why_not_compiled(mx.cpu) == "on a CPU it needs g++, which is not on PATH"
    assert why_not_compiled(mx.gpu) is None
    monkeypatch.setenv("MLX_DISABLE_COMPILE", "1")
    assert why_not_compiled(mx.gpu) == "MLX_DISABLE_COMPILE is set"


def test_a_probe_says_what_computes():
    """MLX's CPU device is software: nobody gets it who did not ask for it."""
    import mlx.core as mx

    from rlx.backends.array.mlx import probe_mlx

    found = probe_mlx(0)
    assert isinstance(found, Found)
    assert found.software is not mx.is_available(mx.gpu)
    assert probe_mlx(77) == f"mlx has {mx.device_count(mx.default_device().type)} device(s)"


def test_threads_share_an_executable():
    """MLX ties streams to threads; a program that one thread compiled runs in all, at once."""
    executable = compiled(MANY)
    inputs = [np.full((5, 4), value, np.float32) for value in range(8)]
    found = [None] * len(inputs)

    def run(at):
        for _ in range(20):
            found[at] = on_host(executable, [inputs[at]])

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(inputs))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    program = load(parser.parse_model(HEAD + MANY))
    for at, outputs in enumerate(found):
        for one, wanted in zip(outputs, on_numpy(program, [inputs[at]]), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-5)


def test_a_program_compiled_in_a_thread_that_ended_runs():
    """What was made at compile time outlives its thread."""
    made = []
    thread = threading.Thread(target=lambda: made.append(compiled(MANY)))
    thread.start()
    thread.join()
    x = np.ones((1, 4), np.float32)
    np.testing.assert_array_equal(on_host(made[0], [x])[0], [[6, 4, 7]])


GATHERS = {
    "Gather": "g (float[3,2] x, int64[k] at) => (y) { y = Gather(x, at) }",
    "GatherElements": "g (float[3] x, int64[k] at) => (y) { y = GatherElements(x, at) }",
    "GatherND": "g (float[3,2] x, int64[k,1] at) => (y) { y = GatherND(x, at) }",
    "ScatterElements": "g (float[3] x, int64[k] at, float[k] u) => (y) "
    "{ y = ScatterElements(x, at, u) }",
    "TensorScatter": "g (float[1,3,2] x, int64[k] at, float[1,1,2] u) => (y) "
    "{ y = TensorScatter(x, u, at) }",
    "ReverseSequence": "g (float[3,1] x, int64[k] at) => (y) "
    "{ far = Abs(at) twice = Add(far, far) y = ReverseSequence(x, twice) }",
    "ScatterND": "g (float[3] x, int64[k,1] at, float[k] u) => (y) { y = ScatterND(x, at, u) }",
}


@pytest.mark.parametrize("place", [3, -4, 1 << 40])
@pytest.mark.parametrize("operation", GATHERS)
def test_an_index_outside_is_an_error(operation, place):
    """MLX would read, or write to, memory that is not the array's."""
    executable = compiled(GATHERS[operation])
    types = [value.type for value in load(parser.parse_model(HEAD + GATHERS[operation])).inputs]
    inputs = [
        np.zeros([n if isinstance(n, int) else 1 for n in one.shape], one.dtype) for one in types
    ]
    on_host(executable, inputs)
    inputs[1][...] = place
    with pytest.raises(ExecutionError) as caught:
        executable.run(inputs)
    assert str(caught.value) == (
        "an index is outside the array that it picks from. "
        "Fix: look at the inputs that the program picks by."
    )
    inputs[1][...] = 0
    on_host(executable, inputs)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_scatters_are_numpy_s(data):
    """Updates of one element are combined as often as it is named."""
    how = data.draw(st.sampled_from(["add", "mul", "max", "min"]))
    ndim = data.draw(st.integers(1, 3))
    shape = tuple(data.draw(st.integers(1, 3)) for _ in range(ndim))
    axis = data.draw(st.integers(-ndim, ndim - 1))
    seed = data.draw(st.integers(0, 1000))
    draw = np.random.default_rng(seed)
    sizes = tuple(int(n) if at != axis % ndim else 4 for at, n in enumerate(shape))
    at = draw.integers(-shape[axis], shape[axis], sizes)
    x, updates = (draw.integers(-5, 5, s).astype(np.float32) for s in (shape, sizes))
    text = (
        f"g (float{list(shape)} x, int64{list(sizes)} at, float{list(sizes)} u) => (y) "
        f'{{ y = ScatterElements <axis: int = {axis}, reduction: string = "{how}"> (x, at, u) }}'
    )
    program = load(parser.parse_model(HEAD + text))
    found = on_host(opened().compile(program, CompileOptions()), [x, at, updates])
    np.testing.assert_array_equal(found, on_numpy(program, [x, at, updates]))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_tuples_of_indices_are_numpy_s(data):
    """GatherND and ScatterND with any number of shared and of indexed axes."""
    shape = tuple(data.draw(st.integers(1, 3)) for _ in range(data.draw(st.integers(1, 3))))
    batch = data.draw(st.integers(0, len(shape) - 1))
    depth = data.draw(st.integers(1, len(shape) - batch))
    lead = (*shape[:batch], data.draw(st.integers(1, 3)))
    draw = np.random.default_rng(data.draw(st.integers(0, 1000)))
    picked = shape[batch : batch + depth]
    at = np.stack([draw.integers(-n, n, lead) for n in picked], axis=-1)
    x = draw.integers(-9, 9, shape).astype(np.int32)
    text = (
        f"g (int32{list(shape)} x, int64{list(at.shape)} at) => (y) "
        f"{{ y = GatherND <batch_dims: int = {batch}> (x, at) }}"
    )
    program = load(parser.parse_model(HEAD + text))
    found = on_host(opened().compile(program, CompileOptions()), [x, at])
    np.testing.assert_array_equal(found, on_numpy(program, [x, at]))
    if batch:
        return
    updates = draw.integers(-9, 9, (*at.shape[:-1], *shape[depth:])).astype(np.int32)
    text = (
        f"g (int32{list(shape)} x, int64{list(at.shape)} at, int32{list(updates.shape)} u) => (y) "
        '{ y = ScatterND <reduction: string = "add"> (x, at, u) }'
    )
    program = load(parser.parse_model(HEAD + text))
    found = on_host(opened().compile(program, CompileOptions()), [x, at, updates])
    np.testing.assert_array_equal(found, on_numpy(program, [x, at, updates]))


CONVOLUTIONS = [
    ((2, 4, 9), (6, 4, 3), {"strides": [2], "pads": [1, 0]}),
    ((1, 4, 7, 8), (6, 2, 3, 2), {"group": 2, "dilations": [2, 1], "pads": [1, 0, 2, 3]}),
    ((1, 4, 7, 8), (4, 1, 3, 3), {"group": 4, "auto_pad": "SAME_LOWER", "strides": [2, 3]}),
    ((1, 2, 5, 4, 6), (3, 2, 2, 2, 2), {"strides": [2, 1, 3]}),
    ((1, 2, 6, 6), (3, 2, 3, 3), {"strides": [2, 2], "pads": [0, 1, 1, 0]}),
]


@pytest.mark.parametrize(("x_shape", "w_shape", "attributes"), CONVOLUTIONS)
def test_the_convolution_for_gpus_gives_what_numpy_gives(
    make_node_model, x_shape, w_shape, attributes
):
    """It computes on a CPU as well, though slowly."""
    from rlx.backends.array.native_mlx_convolution import GPU_OVERRIDES

    draw = np.random.default_rng(0)
    x, w = (draw.standard_normal(shape).astype(np.float32) for shape in (x_shape, w_shape))
    inputs = [x, w, draw.standard_normal(w_shape[0]).astype(np.float32)]
    program = load(make_node_model("Conv", attributes, inputs, [x]))
    backend = opened()
    backend._library = replace(backend._library, overrides=GPU_OVERRIDES)
    found = on_host(backend.compile(program, CompileOptions()), inputs)
    np.testing.assert_allclose(found, on_numpy(program, inputs), rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(shutil.which("g++") is None, reason="mx.compile needs g++ on a CPU")
def test_a_compiled_program_gives_what_its_steps_give():
    """One form for each shape; indices are checked in it too."""
    text = """g (float[n,4] x, int64[k] at) => (float[k,4] y)
    { h = Sigmoid(x) z = Mul(h, x) y = Gather(z, at) }"""
    plain, fused = compiled(text), compiled(text, {"compile": True})
    for rows in (2, 3, 2):
        inputs = [np.linspace(-3, 3, rows * 4, dtype=np.float32).reshape(rows, 4), np.array([1, 0])]
        np.testing.assert_allclose(on_host(fused, inputs)[0], on_host(plain, inputs)[0], rtol=1e-6)
    assert fused.uncompiled is None
    with pytest.raises(ExecutionError):
        fused.run([np.zeros((2, 4), np.float32), np.array([5])])
    np.testing.assert_allclose(on_host(fused, inputs)[0], on_host(plain, inputs)[0], rtol=1e-6)


def test_mlx_itself_computes_what_it_has():
    """Each of its dtypes is its own; NumPy holds the others."""
    from rlx.backends.array.dtypes import CODES
    from rlx.backends.array.mlx_namespace.dtypes import BY_NAME
    from rlx.backends.array.native_mlx_library import LACKED

    assert set(CODES.values()) - set(BY_NAME) == LACKED


def test_what_mlx_lacks_is_refused():
    """NumPy computes it nowhere but where the CPU was asked for."""
    text = "g (float[3] x) => (int4[3] y) { y = Cast <to: int = 22> (x) }"
    with pytest.raises(NotImplementedError) as caught:
        compiled(text)
    assert str(caught.value) == (
        "node 'Cast_0' Cast: NumPy would compute it on the host, and mlx computes on mlx alone"
    )


ENDS = st.sampled_from([0, 1, 2, 3, -1, -2, -4, 7, 2**31, -(2**31), 2**63 - 1, -(2**63)])


@settings(max_examples=150, deadline=None)
@given(start=ENDS, end=ENDS, step=ENDS.filter(bool), size=st.integers(0, 4))
def test_slices_of_any_bounds_are_numpy_s(start, end, step, size):
    """MLX takes bounds and steps of 32 bits only."""
    if not size and step < 0:
        return  # ONNX leaves where it would start undefined
    text = "g (float[n] x, int64[1] a, int64[1] b, int64[1] s) => (y) "
    text += "{ zero = Constant <value_ints = [0]> () y = Slice(x, a, b, zero, s) }"
    program = load(parser.parse_model(HEAD + text))
    inputs = [np.arange(size, dtype=np.float32), *(np.array([n]) for n in (start, end, step))]
    found = on_host(opened().compile(program, CompileOptions()), inputs)
    np.testing.assert_array_equal(found, on_numpy(program, inputs))
