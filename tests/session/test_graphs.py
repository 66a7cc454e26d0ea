"""A compiled graph: consumed once, params set once for all runs, flat data, what is refused."""

import gc
import weakref

import numpy as np
import pytest

import rlx
from rlx.errors import InputError, SessionClosed

X = np.array([[1, 2, 3, 4]], "float32")
W = np.arange(8, dtype="float32").reshape(4, 2)


def hello():
    g = rlx.Graph("hello")
    x, w = g.input("x", (1, 4), "f32"), g.param("w", (4, 2), "f32")
    g.set_outputs([g.matmul(x, w)])
    return g


@pytest.fixture
def compiled():
    with rlx.Session(backend="numpy") as session, session.compile(hello()) as model:
        yield model


def refused(call, *arguments, kind=InputError):
    with pytest.raises(kind) as caught:
        call(*arguments)
    return str(caught.value)


def test_compiling_consumes_a_graph():
    g = hello()
    with rlx.Session(backend="numpy") as session:
        model = session.compile(g)
        message = (
            "the graph 'hello' was compiled. Fix: build another graph: compiling one consumes it."
        )
        calls = (session.compile, session.route, rlx.route)
        assert {refused(call, g, kind=rlx.GraphConsumed) for call in calls} == {message}
        for use in (g.to_program, lambda: g.relu(0), lambda: g.input("y", (1,), "f32")):
            assert refused(use, kind=RuntimeError) == message
        assert refused(g.set_outputs, [0], kind=rlx.GraphConsumed) == message
        assert repr(g) == "<Graph hello, compiled>"
        model.close()


def test_a_graph_that_no_backend_can_run_is_not_consumed():
    g = hello()
    with rlx.Session("cuda", registry=rlx.default_registry()) as session:
        refused(session.compile, g, kind=rlx.NoBackend)
    with rlx.Session(backend="numpy") as session:
        session.compile(g).close()


def test_params_stay_set_until_they_are_set_again(compiled):
    compiled.set_param("w", W)
    for _ in range(2):
        assert compiled.run({"x": X})[0].tolist() == (X @ W).tolist()
    compiled.set_param("w", -W)
    (found,) = compiled(X)
    assert found.tolist() == (X @ -W).tolist()
    assert compiled.run_named({"x": X})["matmul_2"].tolist() == found.tolist()


def test_a_param_is_a_copy(compiled):
    mine = W.copy()
    compiled.set_param("w", mine)
    mine[:] = 0
    assert compiled(X)[0].tolist() == (X @ W).tolist()


def test_params_that_are_not_set_are_named():
    g = rlx.Graph("g")
    x, a, b = g.input("x", (2,), "f32"), g.param("a", (2,), "f32"), g.param("b", (2,), "f32")
    g.set_outputs([g.add(g.add(x, a), b)])
    with rlx.Session(backend="numpy") as session, session.compile(g) as model:
        ones = np.ones(2, "float32")
        fix = "Fix: set each with set_param(name, array) before running."
        message = refused(model.run, {"x": ones})
        assert message == f"g: parameters are not set: a, b. {fix}"
        model.set_param("b", ones)
        assert refused(model, ones) == f"g: parameters are not set: a. {fix}"
        assert repr(model) == "<CompiledGraph g on cpu:0 (numpy), not set: a>"
        model.set_param("a", ones)
        assert model(ones)[0].tolist() == [3, 3]
        assert repr(model) == "<CompiledGraph g on cpu:0 (numpy)>"


def test_what_a_param_must_be(compiled):
    known = "Fix: its parameters are w."
    text = "hello: there is no parameter"
    assert refused(compiled.set_param, "ww", W) == f"{text} 'ww', did you mean 'w'?. {known}"
    assert refused(compiled.set_param, 3, W) == f"{text} 3. {known}"
    assert refused(compiled.set_param, "x", X) == f"{text} 'x', did you mean 'w'?. {known}"
    assert refused(compiled.set_param, "w", W.astype("float64")) == (
        "hello: parameter 'w' is float64, it takes float32. "
        "Fix: convert it with x.astype('float32'), if that is meant."
    )
    assert refused(compiled.set_param, "w", W.T).startswith(
        "hello: parameter 'w' has shape (2, 4), it takes (4, 2): axis 0 must be 4"
    )


def test_a_param_is_no_input(compiled):
    compiled.set_param("w", W)
    assert refused(compiled.run, {"x": X, "w": W}) == (
        "hello: 'w' is a parameter, not an input. Fix: set it with set_param('w', ...)."
    )
    assert refused(compiled.run, {"w": [1.0]}) == (
        "hello: 'w' is a parameter, not an input. Fix: set it with set_param('w', ...)."
    )
    assert refused(compiled, X, W).startswith("hello: it takes 1 input (x), 2 were passed")


@pytest.mark.parametrize("flat", [W.reshape(-1), W.reshape(-1).tolist(), W.tolist()])
def test_params_may_be_flat_or_lists(compiled, flat):
    compiled.set_param("w", flat)
    assert compiled(X)[0].tolist() == (X @ W).tolist()


@pytest.mark.parametrize("x", [X.reshape(-1), [1.0, 2.0, 3.0, 4.0], [[1, 2, 3, 4]]])
def test_inputs_by_name_may_be_flat_or_lists(compiled, x):
    compiled.set_param("w", W)
    assert compiled.run({"x": x})[0].tolist() == (X @ W).tolist()
    assert compiled.run_flat({"x": x})[0].tolist() == (X @ W).reshape(-1).tolist()


@pytest.mark.parametrize(
    ("x", "wrong"),
    [
        ([1.0, 2.0], "has 1 dimension, shape (2,), it takes 2: (1, 4)"),
        ([[1.0], [2.0, 3.0]], "is a list, it takes an array"),
        (["1"], "is a list, it takes an array"),
        (X.reshape(-1).astype("float64"), "is float64, it takes float32"),
        (np.zeros(8, "float32")[::2], "has 1 dimension, shape (4,), it takes 2: (1, 4)"),
        (None, "is None, and it is not optional"),
    ],
)
def test_data_that_is_not_the_inputs_is_refused(compiled, x, wrong):
    compiled.set_param("w", W)
    assert refused(compiled.run, {"x": x}).startswith(f"hello: input 'x' {wrong}. Fix: ")


@pytest.mark.parametrize(
    ("dtype", "data", "fits"),
    [
        ("i8", [127, -128], True),
        ("i8", [128], False),
        ("u8", [-1], False),
        ("i64", [1.0], False),
        ("bool", [True], True),
        ("bool", [1], False),
        ("f16", [1, 0.5], True),
        ("bf16", [1.5], True),
        ("f32", [True], False),
        ("f32", [], True),
    ],
)
def test_a_list_is_taken_where_the_dtype_holds_its_numbers_as_meant(dtype, data, fits):
    g = rlx.Graph("g")
    g.set_outputs([g.input("x", (len(data),), dtype)])
    with rlx.Session(backend="numpy") as session, session.compile(g) as model:
        if fits:
            assert model.run({"x": data})[0].tolist() == data
        else:
            assert "is a list, it takes an array" in refused(model.run, {"x": data})


def test_bytes_come_with_their_dtype(compiled):
    compiled.set_param_typed("w", W.tobytes(), "f32")
    assert compiled.run_typed({"x": (X.tobytes(), "f32")}) == [((X @ W).tobytes(), "f32")]
    assert refused(compiled.set_param_typed, "w", W.tobytes(), "f64") == (
        "hello: 'w' takes f32, got bytes of 'float64'. "
        "Fix: pass the bytes of an array of float32, and 'f32'."
    )
    assert refused(compiled.set_param_typed, "w", b"123", "f32").startswith(
        "hello: 'w' can't be read: buffer size must be a multiple of element size"
    )
    assert "has 1 dimension, shape (1,)" in refused(compiled.set_param_typed, "w", b"1234", "f32")
    assert refused(compiled.run_typed, {"x": X.tobytes()}) == (
        "hello: 'x' takes a pair of bytes and their dtype, got a bytes. "
        "Fix: pass (array.tobytes(), 'f32')."
    )
    assert "there is no input 'y'" in refused(compiled.run_typed, {"y": (b"", "f32")})


def test_a_closed_graph_lets_go_of_its_params(compiled):
    compiled.set_param("w", W)
    compiled.close()
    message = "hello on cpu:0 (numpy) is closed. Fix: use it inside its `with` block"
    for call in (lambda: compiled.set_param("w", W), lambda: compiled.run({"x": X})):
        assert refused(call, kind=SessionClosed).startswith(message)
    assert repr(compiled) == "<CompiledGraph hello on cpu:0 (numpy), not set: w>"


def test_a_dropped_graph_is_freed():
    with rlx.Session(backend="numpy") as session:
        model = session.compile(hello())
        seen = weakref.ref(model)
        del model
        gc.collect()
        assert seen() is None


def test_a_session_says_what_was_asked_for():
    with rlx.Session("cpu", "f32") as session:
        assert (session.device, session.precision) == ("cpu", "f32")
        assert repr(session) == "<Session on cpu, precision f32>"
    with rlx.Session() as session:
        assert (session.device, session.precision) == (None, None)
    with rlx.Session("cuda:1, cpu") as session:
        assert session.device == "cuda:1,cpu"
