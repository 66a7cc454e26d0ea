"""Compiled programs: three ways to call them, and how they end."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rlx import testing
from rlx.errors import ExecutionError, InputError, SessionClosed
from rlx.session import Session, leases

X = np.ones((1, 4), np.float32)


@pytest.fixture
def model(hello, make):
    with Session(registry=make("null")) as session:
        compiled = session.compile(hello)
    yield compiled
    testing.watch().close_error = None
    compiled.close()


def test_by_position_it_returns_a_tuple(model):
    (y,) = model(X, X)
    assert (y.dtype, y.shape) == (np.float32, (1, 4))


def test_by_name_it_returns_a_list_or_a_mapping(model):
    outputs = model.run({"w": X, "x": X})
    assert isinstance(outputs, list)
    assert len(outputs) == 1
    named = model.run_named({"w": X, "x": X})
    assert list(named) == ["y"]


def test_native_returns_what_the_backend_returned(model):
    watch = testing.watch()
    watch.outputs = [own := [1, 2]]
    assert model(X, X, native=True) == (own,)
    assert model.run({"x": X, "w": X}, native=True) == [own]
    assert model.run_named({"x": X, "w": X}, native=True) == {"y": own}


def test_wrong_inputs_never_reach_the_backend(model):
    with pytest.raises(InputError):
        model(X, X.astype(np.float64))
    with pytest.raises(InputError):
        model.run({"x": X})
    assert testing.watch().ran == 0


def test_a_failing_run_names_the_backend_the_program_and_the_cause(model):
    testing.watch().run_error = RuntimeError("out of memory")
    with pytest.raises(ExecutionError) as caught:
        model(X, X)
    assert str(caught.value) == (
        "null failed to run hello: RuntimeError: out of memory. "
        "Fix: see the cause above; another backend may run the program: try `rlx explain --all`."
    )
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_it_says_what_it_is(model, hello):
    assert repr(model) == "<CompiledProgram hello on cpu:0 (null)>"
    assert (model.backend, str(model.device), model.program) == ("null", "cpu:0", hello)
    assert model.route.backend == "null"
    assert model.options.precision is None


def test_it_outlives_the_session_and_closes_the_backend_with_it(model):
    assert leases.opened() == {("null", "cpu:0"): 1}
    model(X, X)
    model.close()
    assert testing.watch().closed == 1


def test_after_close_every_call_says_so(model):
    model.close()
    model.close()
    message = (
        "hello on cpu:0 (null) is closed. Fix: use it inside its `with` block, or make a new one."
    )
    for call in (
        lambda: model(X, X),
        lambda: model(X, X, native=True),
        lambda: model.run({"x": X, "w": X}),
        lambda: model.run_named({}),
    ):
        with pytest.raises(SessionClosed) as caught:
            call()
        assert str(caught.value) == message


def test_a_with_block_closes_it(hello, make):
    with Session(registry=make("null")) as session, session.compile(hello) as model:
        model(X, X)
    assert (testing.watch().opened, testing.watch().closed) == (1, 1)


def test_dropping_it_closes_the_backend(hello, make):
    with Session(registry=make("null")) as session:
        session.compile(hello)
    gc.collect()
    assert testing.watch().closed == 1


def test_a_failing_close_is_reported_and_gives_the_lease_back(model, monkeypatch):
    def close(self):
        raise RuntimeError("still running")

    monkeypatch.setattr(testing.NullExecutable, "close", close)
    with pytest.raises(ExecutionError) as caught:
        model.close()
    assert caught.value.message == (
        "closing hello on cpu:0 (null) failed: RuntimeError: still running"
    )
    assert leases.opened() == {}


def test_it_may_be_called_from_many_threads(model):
    start = threading.Barrier(8)

    def run(_):
        start.wait(20)
        return {model(X, X)[0].shape for _ in range(50)}

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(8))) == [{(1, 4)}] * 8
    assert testing.watch().ran == 400
