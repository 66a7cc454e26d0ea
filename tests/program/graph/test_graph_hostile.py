"""Values that lie or fail, sizes beyond ONNX's, copies: a graph says so, and keeps to itself."""

import copy
import pickle

import numpy as np
import pytest

import rlx


class Failing:
    """A number, a list and a text, all of which fail."""

    def __index__(self):
        raise RuntimeError("no number")

    __float__ = __index__

    def __repr__(self):
        raise ValueError("no text")


@pytest.fixture
def graph():
    made = rlx.Graph("g")
    return made, made.input("x", ["n", 4], "f32")


SHOWN = "<Failing, whose repr() fails>"
CALLS = [
    (lambda g, x: g.relu(Failing()), f"relu: x must be a whole number, got {SHOWN}"),
    (
        lambda g, x: g.param("p", Failing(), "f32"),
        f"param: shape must be a list of sizes, got {SHOWN}",
    ),
    (
        lambda g, x: g.rms_norm(
            x, g.param("w", [4], "f32"), g.param("b", [4], "f32"), eps=Failing()
        ),
        f"rms_norm: eps must be a number, got {SHOWN}",
    ),
    (lambda g, x: g.concat(np.array(0), 0), "concat: inputs must be a list of nodes, got array(0)"),
    (
        lambda g, x: g.input("\ud800", [1], "f32"),
        "input: name holds half a character, got '\\ud800'",
    ),
    (lambda g, x: rlx.Graph("\ud800"), "Graph: name holds half a character, got '\\ud800'"),
    (
        lambda g, x: g.input("y", [2**63], "f32"),
        f"input: shape[0] must be a whole number of 0 or above, in 64 bits, got {2**63}",
    ),
    (
        lambda g, x: g.narrow(x, 0, 2**63, 1),
        f"narrow: start must be a whole number of 0 or above, in 64 bits, got {2**63}",
    ),
    (
        lambda g, x: g.narrow(x, 0, 2**62, 2**62),
        f"narrow: x is f32[n,4], {2**62} to {2**63} is beyond its axis 0",
    ),
    (lambda g, x: g.fftfreq(2**40), f"fftfreq: n may be {2**27} at most, got {2**40}"),
    (lambda g, x: g.rfftfreq(2**40), f"rfftfreq: n may be {2**27} at most, got {2**40}"),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_what_fails_or_is_too_large_is_refused(graph, refusal, call, message):
    assert refusal(call, *graph) == f"{message}. Fix: {rlx.GraphError.fix}"


def test_a_scalar_has_no_axes_to_transpose():
    g = rlx.Graph("g")
    g.set_outputs([g.transpose(g.input("x", [], "f32"), [])])
    with rlx.Session(backend="numpy") as session:
        (got,) = session.compile(g).run({"x": np.float32(3) * np.ones((), np.float32)})
    assert got.tolist() == 3


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
def test_a_copy_grows_by_itself(graph, copied):
    """`copy.copy` shared the lists: what one was given, the other had in part."""
    g, x = graph
    other = copied(g)
    other.input("late", [1], "f32")
    assert (len(g), len(other)) == (1, 2)
    assert g.input("late", [2], "f32") == 1
    g.set_outputs([g.relu(x)])
    assert [value.name for value in g.to_program().inputs] == ["x", "late"]


def test_run_typed_says_what_it_takes():
    g = rlx.Graph("g")
    g.set_outputs([g.relu(g.input("x", [2], "f32"))])
    with rlx.Session(backend="numpy") as session:
        compiled = session.compile(g)
        with pytest.raises(rlx.InputError) as caught:
            compiled.run_typed(None)
    assert caught.value.message == "g: run() takes a mapping of names to arrays, got NoneType"
