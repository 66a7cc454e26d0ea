"""What a run returns is nobody else's: inputs are not written, and no later run changes outputs."""

import numpy as np
import pytest

import rlx
from tests.backends.libraries import EVERY, OWN, own, session_on

X = np.arange(8, dtype="float32").reshape(2, 4)


def program():
    """Outputs that are computed, an input itself, views of an input, and one value twice."""
    g = rlx.Graph("p")
    x = g.input("x", (2, 4), "f32")
    y = g.add(x, x)
    g.set_outputs([y, y, x, g.reshape(x, [8]), g.transpose(x, [1, 0]), g.narrow(x, 0, 1, 1)])
    return g.to_program()


def wanted(x):
    return [x + x, x + x, x, x.reshape(8), x.T, x[1:2]]


@pytest.fixture(params=EVERY)
def model(request):
    made = program()
    with session_on(request.param, made) as session, session.compile(made) as compiled:
        yield compiled


def check(outputs, x):
    for found, one in zip(outputs, wanted(x), strict=True):
        np.testing.assert_array_equal(np.asarray(found), one)


def test_inputs_are_not_written_and_may_be_read_only(model):
    x = X.copy()
    x.flags.writeable = False
    check(model(x), X)
    np.testing.assert_array_equal(x, X)


def test_outputs_can_be_written_without_changing_inputs_or_each_other(model):
    x = X.copy()
    outputs = model(x)
    for place, one in enumerate(outputs):
        assert one.flags.writeable
        before = [other.copy() for other in outputs]
        one[...] = -1
        for other, found in enumerate(outputs):
            if other != place:
                np.testing.assert_array_equal(found, before[other])
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("native", [False, True])
def test_a_later_run_leaves_earlier_outputs_alone(model, native):
    runs = [model(X + number, native=native) for number in range(3)]
    for number, outputs in enumerate(runs):
        check(outputs, X + number)


def test_an_input_may_be_written_after_the_run(model):
    x = X.copy()
    kept = model(x), model(x, native=True)
    x[...] = -1
    for outputs in kept:
        check(outputs, X)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("native", [False, True])
def test_own_inputs_are_not_written_and_not_returned(name, native):
    made = program()
    with session_on(name, made) as session, session.compile(made) as compiled:
        x = own(name, X)
        outputs = compiled(x, native=native)
        check(outputs, X)
        if not native:
            for one in outputs:
                one[...] = -1
        elif name == "torch":
            import torch

            with torch.inference_mode():
                for one in outputs:
                    one.fill_(-1)
        np.testing.assert_array_equal(np.asarray(x), X)
