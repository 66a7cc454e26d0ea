"""Outputs are the caller's own: whatever he writes to them, nothing else changes."""

import numpy as np
import pytest
from onnx import parser

from rlx.program import load
from rlx.session import Session

BACKENDS = ["numpy", "onnxruntime-cpu", "reference"]
HEAD = '<ir_version: 10, opset_import: ["" : 21]>'
PROGRAMS = {
    "an input": "g (float[2] x) => (float[2] x) {}",
    "an input, twice": "g (float[2] x) => (float[2] x, float[2] y, float[2] x) { y = Relu(x) }",
    "a view": "g (float[2] x) => (float[1,2] y) <int64[2] s = {1, 2}> { y = Reshape(x, s) }",
    "an initializer": "g (float[2] x) => (float[2] w) <float[2] w = {1, 2}> {}",
    "an initializer, twice": "g (float[2] x) => (float[2] w, float[2] w) <float[2] w = {1, 2}> {}",
    "a constant": "g () => (float[2] y) { y = Constant <value = float[2] {1, 2}> () }",
    "a result, twice": "g (float[2] x) => (float[2] y, float[2] y) { y = Neg(x) }",
    "two names of a result": "g (float[2] x) => (float[2] y, float[2] z) "
    "{ y = Neg(x) z = Identity(y) }",
}


def run(model, inputs):
    outputs = model(*inputs)
    return outputs, [np.array(one) for one in outputs]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_writing_to_an_output_changes_nothing_else(backend, text):
    program = load(parser.parse_model(HEAD + text))
    inputs = [np.array([1, 2], np.float32)] * len(program.inputs)
    with Session(backend=backend) as session, session.compile(program) as model:
        outputs, before = run(model, inputs)
        for position, one in enumerate(outputs):
            one[...] = 77
            for other, kept in zip(outputs[position + 1 :], before[position + 1 :], strict=True):
                np.testing.assert_array_equal(other, kept)
        np.testing.assert_array_equal(run(model, inputs)[1], before)
        assert all(one.tolist() == [1, 2] for one in inputs)


@pytest.mark.parametrize("backend", ["onnxruntime-cpu", "reference"])
def test_the_arrays_of_a_sequence_are_the_caller_s_own_too(backend):
    text = "g (float[2] x) => (seq(float[2]) s, seq(float[2]) s) { s = SequenceConstruct(x, x) }"
    x = np.array([1, 2], np.float32)
    program = load(parser.parse_model(HEAD + text))
    with Session(backend=backend) as session, session.compile(program) as model:
        (first, second), (other, last) = model(x)
        first[...] = 77
        assert [one.tolist() for one in (x, second, other, last)] == [[1, 2]] * 4
