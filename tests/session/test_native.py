"""Arrays of the backend's own: taken as they are, checked as all others, returned as asked."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings

from rlx.errors import ContractError, ExecutionError, InputError
from rlx.program import Value, ValueType
from rlx.session.inputs import Door, Native, explain
from tests.session.test_specialised import questions, refusal

X = np.arange(4, dtype="float32").reshape(1, 4)


@dataclass(frozen=True)
class Own:
    """An array of a library of its own, on one of its devices."""

    held: np.ndarray
    device: int = 0

    @property
    def shape(self):
        return self.held.shape

    @property
    def ndim(self):
        return self.held.ndim

    def __dlpack_device__(self):
        return 2, self.device


class Executable:
    """Takes and gives its own arrays; remembers what it was given."""

    def __init__(self, answer=list):
        self.answer = answer
        self.seen = []

    def run(self, inputs):
        self.seen = list(inputs)
        return self.answer(inputs)

    def adopt(self, value):
        return value if isinstance(value, Own) and value.device == 0 else None

    def describe(self, array):
        return array.held.dtype.name, array.held.shape

    def to_host(self, array):
        return array.held

    def to_device(self, array):
        return Own(array)


def made(executable, *types, gives=()):
    takes = tuple(Value(f"x{i}", kind) for i, kind in enumerate(types))
    outputs = tuple(Value(f"y{i}", kind) for i, kind in enumerate(gives))
    program = SimpleNamespace(name="p", inputs=takes, outputs=outputs)
    native = Native.of(executable, "cuda:0")
    return Door(program, executable.run, lambda e: ExecutionError(str(e)), "own", native)


def tensor(*shape, dtype="float32"):
    return ValueType(dtype, shape)


def refused(call, *inputs, kind=InputError):
    with pytest.raises(kind) as caught:
        call(*inputs)
    return str(caught.value)


@settings(deadline=None, max_examples=150)
@given(questions())
def test_own_arrays_are_checked_as_all_others(question):
    takes, arrays = question
    executable = Executable(lambda _: [])
    door = made(executable, *(one.type for one in takes))
    takes = tuple(Value(f"x{i}", one.type) for i, one in enumerate(takes))
    expected = refusal(explain.admit, "p", takes, arrays)
    own = [Own(one) for one in arrays]
    mixed = [Own(one) if i % 2 else one for i, one in enumerate(arrays)]
    for given_ in (own, mixed):
        found = refusal(door.call, *given_)
        assert (found is None) == (expected is None)
        if found is None:
            assert [id(one) for one in executable.seen] == [id(one) for one in given_]
        elif "it takes float32" not in expected and " is " not in expected:
            assert found == expected


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        (Own(X.astype("int64")), "is int64, it takes float32. Fix: convert it to float32"),
        (Own(X[0]), "has 1 dimension, shape (4,), it takes 2: (1, 4)"),
        (Own(X.T), "has shape (4, 1), it takes (1, 4): axis 0 must be 1"),
        (Own(X, 1), "is an Own on cuda:1, the program runs on cuda:0. Fix: move it to the CPU"),
        (None, "is None, and it is not optional"),
    ],
)
def test_what_an_own_array_must_be(value, wrong):
    executable = Executable()
    call = made(executable, tensor(1, 4)).call
    assert refused(call, value).startswith(f"p: input 'x0' {wrong}")
    assert executable.seen == []


def test_sizes_that_vary_must_agree_between_own_arrays_and_others():
    call = made(Executable(lambda _: []), tensor("n"), tensor("n")).call
    assert call(Own(X[0]), X[0]) == ()
    assert refused(call, Own(X[0]), X[0, :2]) == (
        "p: input 'x1' has n = 2 on axis 0, input 'x0' has n = 4. Fix: pass the same n everywhere."
    )


def test_sequences_and_optionals_hold_own_arrays():
    executable = Executable(lambda _: [])
    sequence = ValueType("seq(float32)", None, "sequence")
    optional = ValueType("optional(float32)", None, "optional")
    call = made(executable, sequence, optional).call
    own = Own(X)
    call([own, X], None)
    assert executable.seen == [[own, X], None]
    call([], own)
    assert executable.seen == [[], own]
    assert "[0] is int64, it takes float32" in refused(call, [Own(X.astype("int64"))], None)


def test_outputs_are_numpy_arrays_or_the_backends_own():
    door = made(Executable(), tensor(1, 4), tensor(4), gives=(tensor(1, 4), tensor(4)))
    own, other = Own(X), Own(X[0])
    first, second = door.call(own, other)
    assert first is X
    assert second is other.held
    assert door.call_native(own, other) == (own, other)
    assert door.call(X, other)[0] is X


def test_own_outputs_within_sequences_become_numpy_arrays():
    sequence = ValueType("seq(float32)", None, "sequence")
    door = made(Executable(lambda x: [[x[0], X]]), tensor(1, 4), gives=(sequence,))
    ((first, second),) = door.call(Own(X))
    assert first is X
    assert second is X


def test_what_fails_late_is_the_backends_failure():
    executable = Executable()
    executable.to_host = lambda array: 1 / 0
    call = made(executable, tensor(1, 4), gives=(tensor(1, 4),)).call
    assert refused(call, Own(X), kind=ExecutionError).startswith("division by zero")


def test_an_own_output_of_another_dtype_breaks_the_contract():
    call = made(Executable(), tensor(1, 4), gives=(tensor(1, 4, dtype="int64"),)).call
    assert refused(call, Own(X), kind=ContractError).startswith(
        "p on own: output 'y0' is float32, the program declares int64"
    )


def test_an_executable_offers_all_of_it_or_nothing():
    offers = Executable()
    assert Native.of(offers, "cuda:0").adopt is not None
    offers.describe = None
    assert Native.of(offers, "cuda:0") == Native("cuda:0")
    assert refused(made(offers, tensor(1, 4)).call, Own(X)).startswith(
        "p: input 'x0' is an Own on cuda:0, the program runs on cuda:0"
    )
