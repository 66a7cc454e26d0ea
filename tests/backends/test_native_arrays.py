"""Each library's own arrays: in without NumPy, checked as all others, out as they are."""

import ml_dtypes
import numpy as np
import onnx
import pytest

import rlx
from rlx.errors import InputError
from tests.backends.libraries import OWN, own, own_type, session_on

X = np.arange(8, dtype="float32").reshape(2, 4)
W = np.arange(12, dtype="float32").reshape(4, 3)


def program():
    g = rlx.Graph("p")
    x, y = g.input("x", ("n", 4), "f32"), g.input("y", ("n", 4), "f32")
    w = g.param("w", (4, 3), "f32")
    g.set_outputs([g.matmul(g.add(x, y), w), g.cast(x, "bf16")])
    return g


@pytest.fixture
def opened(request):
    """A library's name, and the program compiled on it, with its param set."""
    name = request.param
    g = program()
    with session_on(name, g.to_program()) as session, session.compile(g) as model:
        model.set_param("w", W)
        yield name, model


each = pytest.mark.parametrize("opened", OWN, indirect=True)


def refused(model, *inputs):
    with pytest.raises(InputError) as caught:
        model(*inputs)
    return str(caught.value)


@each
def test_own_arrays_give_what_numpy_s_give(opened):
    name, model = opened
    wanted = model(X, X)
    for given in ((own(name, X), own(name, X)), (own(name, X), X), (X, own(name, X))):
        for found, one in zip(model(*given), wanted, strict=True):
            assert type(found) is np.ndarray
            assert found.dtype == one.dtype
            np.testing.assert_array_equal(found, one)
    np.testing.assert_array_equal(wanted[0], (X + X) @ W)


@each
def test_outputs_without_a_numpy_dtype_are_of_ml_dtypes(opened):
    name, model = opened
    for given in (X, own(name, X)):
        found = model(given, given)[1]
        assert found.dtype == np.dtype(ml_dtypes.bfloat16)
        np.testing.assert_array_equal(found.astype("float32"), X)


@each
def test_native_outputs_are_the_library_s(opened):
    name, model = opened
    outputs = model(X, own(name, X), native=True)
    assert all(isinstance(one, own_type(name)) for one in outputs)
    (product, _) = model.run({"x": own(name, X), "y": X}, native=True)
    np.testing.assert_array_equal(np.asarray(product), (X + X) @ W)
    named = model.run_named({"x": own(name, X), "y": X}, native=True)
    assert all(isinstance(one, own_type(name)) for one in named.values())


@pytest.mark.parametrize("name", OWN)
def test_native_outputs_can_be_passed_on(name):
    g = rlx.Graph("doubled")
    x = g.input("x", (2, 4), "f32")
    g.set_outputs([g.add(x, x)])
    with session_on(name, g.to_program()) as session, session.compile(g) as model:
        (value,) = model(X, native=True)
        for _ in range(2):
            (value,) = model(value, native=True)
        np.testing.assert_array_equal(model(value)[0], 16 * X)


@each
def test_own_arrays_are_refused_as_all_others(opened):
    name, model = opened
    x = own(name, X)
    assert refused(model, own(name, X.astype("int32")), x) == (
        "p: input 'x' is int32, it takes float32. Fix: convert it to float32, if that is meant."
        if name != "jax"
        else "p: input 'x' is int32, it takes float32. "
        "Fix: convert it with x.astype('float32'), if that is meant."
    )
    assert "input 'x' has 1 dimension, shape (4,), it takes 2: (n, 4)" in refused(model, x[0], x)
    assert "has shape (2, 3), it takes (n, 4): axis 1 must be 4" in refused(model, x[:, :3], x)
    assert "input 'y' has n = 1 on axis 0, input 'x' has n = 2" in refused(model, x, x[:1])


@each
def test_a_param_may_be_an_own_array(opened):
    name, model = opened
    model.set_param("w", own(name, -W))
    np.testing.assert_array_equal(model(X, X)[0], (X + X) @ -W)
    with pytest.raises(InputError, match="parameter 'w' has shape"):
        model.set_param("w", own(name, W.T.copy()))


@each
def test_arrays_of_other_libraries_are_read(opened):
    name, model = opened
    wanted = model(X, X)[0]
    for case in OWN:
        other = case.values[0]
        if other != name:
            pytest.importorskip(other)
            np.testing.assert_array_equal(model(own(other, X), X)[0], wanted)


@pytest.mark.needs("torch")
def test_a_tensor_that_requires_gradients_is_refused():
    g = program()
    with session_on("torch", g.to_program()) as session, session.compile(g) as model:
        model.set_param("w", W)
        x = own("torch", X).requires_grad_()
        assert "input 'x' is a Tensor that requires gradients" in refused(model, x, X)
        np.testing.assert_array_equal(model(x.detach(), X)[0], (X + X) @ W)


@pytest.mark.needs("torch")
def test_a_tensor_on_another_device_is_refused():
    import torch

    g = program()
    with session_on("torch", g.to_program()) as session, session.compile(g) as model:
        model.set_param("w", W)
        assert "input 'x' is a Tensor" in refused(model, torch.zeros((2, 4), device="meta"), X)


FLOAT8 = {17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz"}


@pytest.mark.parametrize("name", [one for one in OWN if "mlx" not in str(one)])  # it lacks them
@pytest.mark.parametrize("code", FLOAT8)
def test_small_floats_go_in_and_out_as_those_of_ml_dtypes(name, code):
    small = np.dtype(getattr(ml_dtypes, FLOAT8[code]))
    values = np.array([0.5, -1, 2, 240], "float32")
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 24]>
        p (float[4] x) => ({FLOAT8[code].replace("_", "")}[4] y, float[4] z)
        {{ y = Cast <to = {code}> (x)  z = Cast <to = 1> (y) }}"""
    )
    program = rlx.load(model)
    with session_on(name, program) as session, session.compile(program) as compiled:
        for x in (values, own(name, values)):
            y, z = compiled(x)
            assert y.dtype == small
            np.testing.assert_array_equal(
                y.astype("float32"), values.astype(small).astype("float32")
            )
            np.testing.assert_array_equal(z, y.astype("float32"))
