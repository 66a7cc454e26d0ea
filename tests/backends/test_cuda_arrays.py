"""Arrays on an NVIDIA GPU: they stay there, params too, and no later run changes outputs."""

import ctypes
import importlib.util

import ml_dtypes
import numpy as np
import pytest

import rlx
from rlx.errors import InputError
from tests.backends.libraries import GPUS, session_on


def gpus():
    """How many NVIDIA GPUs the driver has here."""
    try:
        driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    except OSError:
        return 0
    return 0 if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) else count.value


pytestmark = pytest.mark.skipif(not gpus(), reason="needs an NVIDIA GPU")
X = np.arange(8, dtype="float32").reshape(2, 4)
W = np.arange(12, dtype="float32").reshape(4, 3)


def own(name, array, index=0):
    """A NumPy array as one of the library's, on a GPU."""
    if name == "torch":
        import torch

        return torch.from_numpy(np.array(array)).to(f"cuda:{index}")
    if name == "jax":
        import jax

        return jax.device_put(array, jax.devices("gpu")[index])
    import cupy

    with cupy.cuda.Device(index):
        return cupy.array(array)


def host(array):
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "get"):
        return array.get()
    return array.cpu().numpy() if hasattr(array, "cpu") else np.asarray(array)


def program(name):
    g = rlx.Graph("p")
    x, w = g.input("x", (2, 4), "f32"), g.param("w", (4, 3), "f32")
    y = g.matmul(g.add(x, x), w)
    other = g.neg(x) if name == "cupy" else g.cast(x, "bf16")  # cupy has no bfloat16
    g.set_outputs([y, other, x])
    return g


@pytest.fixture(params=GPUS)
def opened(request):
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"needs {request.param}, which is not installed")
    g = program(request.param)
    with (
        session_on(request.param, g.to_program(), table=GPUS) as session,
        session.compile(g) as model,
    ):
        model.set_param("w", W)
        yield request.param, model


def test_own_arrays_stay_on_the_gpu(opened):
    name, model = opened
    x = own(name, X)
    wanted = (X + X) @ W
    outputs = model(x, native=True)
    assert {type(one) for one in outputs} == {type(x)}
    np.testing.assert_array_equal(host(outputs[0]), wanted)
    for given in (x, X):
        found = model(given)
        assert all(type(one) is np.ndarray for one in found)
        np.testing.assert_array_equal(found[0], wanted)
        np.testing.assert_array_equal(found[2], X)
    if name != "cupy":
        assert found[1].dtype == np.dtype(ml_dtypes.bfloat16)
    model.set_param("w", own(name, -W))
    np.testing.assert_array_equal(model(x)[0], -wanted)


def test_a_later_run_leaves_earlier_outputs_and_inputs_alone(opened):
    name, model = opened
    given = [own(name, X + number) for number in range(4)]
    native = [model(x, native=True) for x in given]
    plain = [model(x) for x in given]
    for number, (one, other) in enumerate(zip(native, plain, strict=True)):
        for outputs in (one, other):
            np.testing.assert_array_equal(host(outputs[0]), 2 * (X + number) @ W)
            np.testing.assert_array_equal(host(outputs[2]), X + number)
        np.testing.assert_array_equal(host(given[number]), X + number)


def test_own_arrays_are_checked(opened):
    name, model = opened
    for bad, wrong in ((X[:, :3], "has shape (2, 3)"), (X[0], "has 1 dimension")):
        with pytest.raises(InputError, match="input 'x' has") as caught:
            model(own(name, bad))
        assert wrong in str(caught.value)
    with pytest.raises(InputError, match="input 'x' is int32, it takes float32"):
        model(own(name, X.astype("int32")))


def test_a_backend_on_the_cpu_does_not_copy_from_the_gpu(opened):
    name, _ = opened
    made = rlx.Graph("q")
    made.set_outputs([made.relu(made.input("x", (2, 4), "f32"))])
    with (
        rlx.Session(backend="numpy") as session,
        session.compile(made) as model,
        pytest.raises(InputError) as caught,
    ):
        model(own(name, X))
    assert str(caught.value).endswith(
        "on cuda:0, the program runs on cpu:0. Fix: move it to the CPU, or pass a copy."
    )


@pytest.mark.skipif(gpus() < 2, reason="needs two NVIDIA GPUs")
def test_an_array_on_another_gpu_is_refused(opened):
    name, model = opened
    with pytest.raises(InputError, match="on cuda:1, the program runs on cuda:0"):
        model(own(name, X, 1))
