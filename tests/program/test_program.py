"""A program: frozen, picklable, equal by content, shown in one line."""

import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from rlx.program import Program, ValueType, load
from rlx.program.program import show

MLP = """mlp (float[1,4] x) => (float[1,2] y) <float[4,2] w = {1,2,3,4,5,6,7,8}, float[2] b = {0,1}>
{ h = MatMul(x, w) a = Add(h, b) y = Relu(a) }"""


def test_a_program_shows_its_name_size_and_interface(parse):
    assert repr(load(parse(MLP))) == ("Program('mlp', 3 nodes, x: float32[1,4] -> y: float32[1,2])")


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (ValueType("float32", (1, "n", None)), "float32[1,n,?]"),
        (ValueType("int64", ()), "int64[]"),
        (ValueType("bool"), "bool"),
        (ValueType("seq(int64)", None, "sequence"), "seq(int64)"),
        (ValueType("", (2,)), "unknown[2]"),
    ],
)
def test_types_are_shown_briefly(found, text):
    assert show(found) == text


def test_a_program_comes_back_from_a_pickle(parse):
    program = load(parse(MLP))
    again = pickle.loads(pickle.dumps(program))
    assert (again, repr(again), again.path) == (program, repr(program), None)
    assert [node.name for node in again.nodes()] == [node.name for node in program.nodes()]
    assert not any(array.flags.writeable for _, array in again.body.constants)


def test_nothing_reachable_can_be_changed(parse):
    program = load(parse(MLP))
    with pytest.raises(FrozenInstanceError):
        program.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        program.body.constants[0][1][0] = 3


def test_what_to_onnx_returns_is_the_callers_own(parse):
    program = load(parse(MLP))
    program.to_onnx().graph.node[0].op_type = "Gemm"
    assert program.to_onnx().graph.node[0].op_type == "MatMul"


def stored_otherwise(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same program: doc strings, order of initializers, raw data, IR version all differ."""
    other = onnx.ModelProto()
    other.CopyFrom(model)
    other.ir_version = 10
    other.doc_string = other.graph.doc_string = other.graph.node[0].doc_string = "text"
    other.producer_name = "another"
    tensors = [
        numpy_helper.from_array(numpy_helper.to_array(t), t.name)
        for t in reversed(other.graph.initializer)
    ]
    del other.graph.initializer[:]
    other.graph.initializer.extend(tensors)
    other.graph.name = "elsewhere"
    return other


def test_the_digest_does_not_depend_on_how_a_program_is_stored(parse):
    model = parse(MLP)
    assert load(model).digest == load(stored_otherwise(model)).digest
    assert hash(load(model)) == hash(load(stored_otherwise(model)))


def test_the_digest_does_not_depend_on_the_opset_written(parse):
    assert load(parse(MLP, 13)).digest == load(parse(MLP, 28, ir=14)).digest
    assert load(load(parse(MLP)).to_onnx(28)).digest == load(parse(MLP)).digest


CHANGES = [
    ("{0,1}", "{0,2}"),
    ("Relu(a)", "Abs(a)"),
    ("Relu(a)", "Elu(a)"),
    ("Add(h, b)", "Add(b, h)"),
    ("float[1,4] x", "float[N,4] x"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_the_digest_changes_with_the_content(parse, old, new):
    assert load(parse(MLP)).digest != load(parse(MLP.replace(old, new))).digest


def test_the_digest_changes_with_an_attribute(parse):
    elu = "g (float[2] x) => (float[2] y) { y = Elu<alpha=%s>(x) }"
    digests = {load(parse(elu % alpha)).digest for alpha in ("0.5", "0.25", "1.0")}
    assert len(digests) == 3


def test_large_constant_nodes_become_constants_of_the_program(parse):
    model = parse(
        "g (float[1] x) => (float[1] y) { c = Constant<value = float {1}>() y = Add(x,c) }"
    )
    large = numpy_helper.from_array(np.ones((2000, 1), np.float32))
    model.graph.node[0].attribute[0].t.CopyFrom(large)
    model.graph.output[0].ClearField("type")
    program = load(model)
    assert [node.operation for node in program.nodes()] == ["Add"]
    assert program.body.constants[0][1].shape == (2000, 1)


def test_a_size_of_minus_one_or_a_question_mark_is_unknown(parse):
    model = parse("g (float[N,M] x) => (float[N,M] y) { y = Relu(x) }")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = -1
        value.type.tensor_type.shape.dim[1].dim_param = "?"
    assert load(model).inputs[0].type == ValueType("float32", (None, None))


def test_a_pickle_holds_no_constant_twice(parse):
    model = parse("g (float[512,512] x) => (float[512,512] y) <float[1] w = {0}> { y = Add(x, w) }")
    weights = np.ones((512, 512), np.float32)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, "w"))
    assert len(pickle.dumps(load(model))) < 1.1 * weights.nbytes


def test_names_are_resolved_lazily():
    code = (
        "import sys, rlx.program, rlx.program.types\n"
        "assert 'onnx' not in sys.modules and 'numpy' not in sys.modules\n"
        "from rlx.program import Program, load\n"
        "assert 'onnx' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error():
    import rlx.program

    with pytest.raises(AttributeError, match=r"module 'rlx.program' has no attribute 'nothing'"):
        rlx.program.nothing  # noqa: B018
    assert rlx.program.Program is Program
