"""Inputs are checked by name, dtype, ndim and size before a backend sees them; none is cast."""

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from rlx.program import Value, ValueType
from rlx.session.inputs import Door
from tests.session.doors import door, refused, tensor

X = np.zeros((1, 4), np.float32)


def test_an_array_that_fits_is_passed_on_as_it_is():
    (got,) = door(tensor(1, 4))(X)
    assert got is X


def test_a_view_that_is_not_contiguous_is_passed_on():
    view = np.zeros((4, 2), np.float32).T
    (got,) = door(tensor(2, 4))(view)
    assert got is view


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (
            tensor(1, 4),
            X.astype(np.float64),
            "mlp: input 'a' is float64, it takes float32. "
            "Fix: convert it with x.astype('float32'), if that is meant.",
        ),
        (
            tensor(1, 4),
            X.astype(">f4"),
            "mlp: input 'a' is float32 in foreign byte order (>f4). Fix: pass x.astype('float32').",
        ),
        (
            tensor(1, 4),
            np.zeros(4, np.float32),
            "mlp: input 'a' has 1 dimension, shape (4,), it takes 2: (1, 4). "
            "Fix: pass each input under its name, with the dtype and shape that the message names.",
        ),
        (
            tensor("n", 4),
            np.zeros((2, 5), np.float32),
            "mlp: input 'a' has shape (2, 5), it takes (n, 4): axis 1 must be 4. "
            "Fix: pass each input under its name, with the dtype and shape that the message names.",
        ),
        (
            tensor("n", "n", None),
            np.zeros((2, 3, 9), np.float32),
            "mlp: input 'a' has n = 3 on axis 1, input 'a' has n = 2. "
            "Fix: pass the same n everywhere.",
        ),
        (
            tensor(1, 4),
            [[0.0] * 4],
            "mlp: input 'a' is a list, it takes an array. "
            "Fix: pass numpy.asarray(value, dtype='float32').",
        ),
        (
            tensor(dtype="int64"),
            3,
            "mlp: input 'a' is an int, it takes an array. "
            "Fix: pass numpy.asarray(value, dtype='int64').",
        ),
        (
            tensor(1, 4),
            None,
            "mlp: input 'a' is None, and it is not optional. Fix: pass an array.",
        ),
        (
            tensor(1, 4),
            np.ma.masked_array(X),
            "mlp: input 'a' is a masked array, whose mask would be ignored. "
            "Fix: pass x.filled(value).",
        ),
        (
            tensor(1, dtype="bfloat16"),
            np.zeros(1, np.uint16),
            "mlp: input 'a' is uint16, it takes bfloat16. "
            "Fix: convert it with x.astype('bfloat16'), if that is meant.",
        ),
        (
            tensor(1, dtype="float16"),
            np.zeros(1, ml_dtypes.float8_e4m3fn),
            "mlp: input 'a' is float8e4m3fn, it takes float16. "
            "Fix: convert it with x.astype('float16'), if that is meant.",
        ),
        (
            tensor(1, dtype="string"),
            np.array(["a", 3], object)[1:],
            "mlp: input 'a' holds an int, it takes str only. Fix: pass an array of str.",
        ),
        (
            tensor(1, dtype="string"),
            np.array([b"a"]),
            "mlp: input 'a' is bytes8, it takes string. Fix: pass an array of str.",
        ),
        (
            ValueType("seq(float32)", None, "sequence"),
            X,
            "mlp: input 'a' is a NumPy array, it takes a list of arrays. Fix: pass a list.",
        ),
        (
            ValueType("seq(float32)", None, "sequence"),
            [X, X.astype(np.int8)],
            "mlp: input 'a'[1] is int8, it takes float32. "
            "Fix: convert it with x.astype('float32'), if that is meant.",
        ),
        (
            ValueType("optional(int64)", None, "optional"),
            X,
            "mlp: input 'a' is float32, it takes int64. "
            "Fix: convert it with x.astype('int64'), if that is meant.",
        ),
    ],
)
def test_what_does_not_fit_is_refused(kind, value, message):
    assert refused(door(kind), value) == message


def test_everything_wrong_is_named_at_once():
    call = door(tensor(1, 4), tensor("n", dtype="int64"), tensor("n"))
    wrong = refused(call, X[0], np.zeros(2, np.int32), np.zeros((1, 1), np.float32))
    assert wrong == (
        "mlp: input 'a' has 1 dimension, shape (4,), it takes 2: (1, 4); "
        "input 'b' is int32, it takes int64; "
        "input 'c' has 2 dimensions, shape (1, 1), it takes 1: (n). "
        "Fix: pass each input under its name, with the dtype and shape that the message names."
    )


def test_equal_symbols_across_inputs_must_be_equal_sizes():
    call = door(tensor("batch", 4), tensor("batch"))
    a, b = np.zeros((3, 4), np.float32), np.zeros(3, np.float32)
    assert [id(one) for one in call(a, b)] == [id(a), id(b)]
    assert refused(call, a, np.zeros(2, np.float32)) == (
        "mlp: input 'b' has batch = 2 on axis 0, input 'a' has batch = 3. "
        "Fix: pass the same batch everywhere."
    )


@pytest.mark.parametrize(
    ("inputs", "given"),
    [((), "0 were passed"), ((X,), "1 was passed"), ((X,) * 3, "3 were passed")],
)
def test_the_number_of_inputs_is_checked(inputs, given):
    assert refused(door(tensor(1, 4), tensor(1, 4)), *inputs) == (
        f"mlp: it takes 2 inputs (a, b), {given}. "
        "Fix: pass the inputs by position in that order, or by name with run()."
    )


def test_a_program_without_inputs_takes_none():
    assert door()() == []
    assert refused(door(), X) == (
        "mlp: it takes 0 inputs, 1 was passed. "
        "Fix: pass the inputs by position in that order, or by name with run()."
    )


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            {"a": X, "bb": X},
            "mlp: there is no input 'bb', did you mean 'b'?; input 'b' is missing. "
            "Fix: pass exactly a, b.",
        ),
        ({"a": X}, "mlp: input 'b' is missing. Fix: pass exactly a, b."),
        (
            {"a": X, "b": X, "other": X},
            "mlp: there is no input 'other'. Fix: pass exactly a, b.",
        ),
        (
            {"a": X.astype(np.int8), "b": X, 3: X},
            "mlp: there is no input 3; input 'a' is int8, it takes float32. "
            "Fix: pass each input under its name, with the dtype and shape that the message names.",
        ),
        (
            [X, X],
            "mlp: run() takes a mapping of names to arrays, got list. "
            "Fix: pass {name: array, ...}, or call the model with arrays by position.",
        ),
    ],
)
def test_names_are_checked(named, message):
    assert refused(door(tensor(1, 4), tensor(1, 4)).door.order, named) == message


def test_names_that_look_like_code_are_only_names():
    evil = '"]; import os #'
    takes = (Value(evil, ValueType("float32", ("'n\n", 4))),)
    made = Door(
        SimpleNamespace(name="x'\n\"", inputs=takes, outputs=()), lambda inputs: [], RuntimeError
    )
    assert made.call(*made.order({evil: X})) == ()
    assert evil not in made.source
