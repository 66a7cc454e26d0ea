"""The way into programs that are made of input types alone, and what it refuses."""

from types import SimpleNamespace

import pytest

from rlx.errors import ExecutionError, InputError
from rlx.program import Value, ValueType
from rlx.session.inputs import Door


def door(*types, run=None):
    """The door of a program with inputs a, b … of these types; its output is what run got."""
    seen = []
    names = "abcdefgh"
    takes = tuple(Value(name, kind) for name, kind in zip(names, types, strict=False))
    program = SimpleNamespace(name="mlp", inputs=takes, outputs=())

    def keep(inputs):
        seen[:] = inputs
        return []

    made = Door(program, run or keep, lambda error: ExecutionError(str(error)))

    def call(*inputs):
        assert made.call(*inputs) == ()
        return list(seen)

    call.door = made
    return call


def tensor(*shape, dtype="float32"):
    return ValueType(dtype, shape)


def refused(call, *inputs):
    with pytest.raises(InputError) as caught:
        call(*inputs)
    return str(caught.value)
