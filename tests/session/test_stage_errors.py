"""What fails in a stage says which stage it was, and keeps its kind."""

from types import SimpleNamespace

import numpy as np
import pytest

import rlx
from rlx import testing
from rlx.backends.protocol import CompileOptions
from rlx.errors import ContractError, ExecutionError, PrecisionError, SessionClosed
from rlx.session.stages import compile_stages
from tests.session.test_stages import THREE, program, staged

X = np.array([1, -2], np.float32)


class Mine:
    """An array of a backend's own, of two elements."""

    def __init__(self, dtype):
        self.dtype = dtype


class Native:
    """An executable that takes and gives such arrays."""

    device = "cpu"

    def adopt(self, value):
        return value if isinstance(value, Mine) else None

    def describe(self, array):
        return array.dtype, (2,)

    def to_host(self, array):
        return np.zeros(2, array.dtype)

    def to_device(self, array):
        return Mine(array.dtype.name)

    def close(self):
        pass


class Unready(ValueError):
    """What an engine might raise."""


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (Unready("no"), ExecutionError, "null failed to compile three, stage 1 of 3: Unready: no"),
        (PrecisionError("not in f16"), PrecisionError, "stage 1 of 3: not in f16"),
    ],
)
def test_what_fails_to_compile_says_its_stage(error, kind, message):
    loaded, registry = staged(THREE)
    testing.watch("null").compile_error = error
    with (
        rlx.Session(backend="null", registry=registry) as session,
        pytest.raises(kind) as caught,
    ):
        session.compile(loaded)
    assert caught.value.message == message
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (Unready("no"), ExecutionError, "null failed to run three, stage 1 of 3: Unready: no"),
        (SessionClosed("it is gone"), SessionClosed, "stage 1 of 3: it is gone"),
    ],
)
def test_what_fails_to_run_says_its_stage(error, kind, message):
    loaded, registry = staged(THREE)
    with (
        rlx.Session(backend="null", registry=registry) as session,
        session.compile(loaded) as model,
    ):
        testing.watch("null").run_error = error
        for _ in range(2):  # the engine's own error is left as it is
            with pytest.raises(kind) as caught:
                model(X)
            assert caught.value.message == message


def test_a_stage_that_gives_something_else_breaks_the_contract():
    loaded, registry = staged(THREE)
    with (
        rlx.Session(backend="null", registry=registry) as session,
        session.compile(loaded) as model,
    ):
        testing.watch("null").outputs = [np.zeros(2, np.int64)]
        with pytest.raises(ContractError) as caught:
            model(X)
    assert caught.value.message == (
        "stage 1 of 3: three on null: output 'a' is int64, the program declares float32"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((np.zeros(2, np.int64),), "output 'a' is int64, the program declares float32"),
        ((np.zeros((1, 2), np.float32),), "output 'a' has 2 dimensions, the program declares 1"),
        ((Mine("int64"),), "output 'a' is int64, the program declares float32"),
        (([X],), "output 'a' is a list, it takes an array"),
        ((None,), "output 'a' is None, and it is not optional"),
        ((X, X), "the backend returned 2 outputs, the program has 1"),
    ],
    ids=range(6),
)
def test_a_stage_with_arrays_of_its_own_keeps_its_contract_too(given, said):
    """Only the first stage lies; a value that is right is handed on as it is."""

    class Executable(Native):
        def run(self, inputs):
            taken.append(inputs)
            return given if len(taken) == 1 else [Mine("float32")]

    for lie in (True, False):
        taken = [] if lie else [()]
        backend = SimpleNamespace(compile=lambda program, options: Executable())
        made = compile_stages(backend, program(THREE), CompileOptions(), "own", "cpu")
        if lie:
            with pytest.raises(ContractError) as caught:
                made.run([X])
            assert caught.value.message == f"stage 1 of 3: three on own: {said}"
        else:
            (y,) = made.run([X])
            assert isinstance(y, Mine)
            assert isinstance(taken[-1][0], Mine)


def test_a_stage_on_another_device_breaks_the_contract():
    loaded, registry = staged(THREE)
    testing.watch("null").compiled_device = "cuda"
    with (
        rlx.Session(backend="null", registry=registry) as session,
        pytest.raises(ContractError) as caught,
    ):
        session.compile(loaded)
    assert caught.value.message == (
        "null compiled three, stage 1 of 3, for 'cuda', cpu was asked for"
    )
