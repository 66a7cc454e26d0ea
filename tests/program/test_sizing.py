"""Sizes that a program leaves open are fixed by name, and every type follows."""

import onnx
import pytest

import rlx
from rlx.errors import InputError, ProgramError
from rlx.program.sizing import with_sizes

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
open (float[batch, n] x, float[n, 3] w) => (float[batch, 3] y) <float[3] b = {1, 2, 3}> {
  p = MatMul(x, w) y = Add(p, b) }"""


@pytest.fixture
def program():
    return rlx.load(onnx.parser.parse_model(TEXT))


def shapes(values):
    return [value.type.shape for value in values]


def test_inputs_outputs_and_what_is_between_follow(program):
    made = with_sizes(program, {"batch": 2, "n": 4})
    assert shapes(made.inputs) == [(2, 4), (4, 3)]
    assert shapes(made.outputs) == [(2, 3)]
    assert dict(made.body.types)["p"].shape == (2, 3)
    assert made.name == program.name
    assert "dynamic_shapes" not in made.requirements.capabilities
    assert made.digest != program.digest


def test_others_stay_open(program):
    made = with_sizes(program, {"n": 4})
    assert shapes(made.inputs) == [("batch", 4), (4, 3)]
    assert shapes(made.outputs) == [("batch", 3)]


def test_nothing_to_fix(program):
    assert with_sizes(program, {}) is program


def test_the_same_sizes_make_the_same_program(program):
    """By way of one size, or of the other."""
    both = with_sizes(program, {"batch": 2, "n": 4})
    assert with_sizes(with_sizes(program, {"n": 4}), {"batch": 2}) == both


REFUSED = {
    "m": ({"m": 1}, "no input has a size named m. Fix: the sizes left open are: batch, n."),
    "below": ({"n": -1}, "the size n must be a whole number from 0, got -1. "),
    "truth": ({"n": True}, "the size n must be a whole number from 0, got True. "),
    "text": ({"n": "4"}, "the size n must be a whole number from 0, got '4'. "),
    "huge": ({"n": 1 << 63}, "the size n must be a whole number from 0, got 9223372036854775808. "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_size_is_refused(program, case):
    sizes, message = REFUSED[case]
    with pytest.raises(InputError) as refusal:
        with_sizes(program, sizes)
    assert str(refusal.value).startswith(message)


def test_sizes_that_contradict_the_program_are_refused():
    text = TEXT.replace("float[n, 3] w", "float[4, 3] w")
    with pytest.raises(ProgramError, match="MatMul"):
        with_sizes(rlx.load(onnx.parser.parse_model(text)), {"n": 5})


def test_inside_branches_too():
    """A body's own types are inferred again; what it captures has the size."""
    text = """<ir_version: 10, opset_import: ["" : 21]>
    open (float[n] x, bool c) => (float[n] y) {
      y = If(c) <then_branch = a () => (float[n] u) { u = Relu(x) },
                 else_branch = b () => (float[n] v) { v = Neg(x) }> }"""
    made = with_sizes(rlx.load(onnx.parser.parse_model(text)), {"n": 3})
    assert shapes(made.inputs) == [(3,), ()]
    assert shapes(made.outputs) == [(3,)]
