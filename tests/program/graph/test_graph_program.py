"""A graph as a program: its inputs, outputs and names, ids, copies, and what is left out."""

import json
import pickle

import numpy as np
import pytest

import rlx
from rlx.program.graph.names import DTYPES


def mlp(name="mlp"):
    g = rlx.Graph(name)
    x = g.input("x", ("n", 4), "f32")
    w, b = g.param("w", (4, 3), "f32"), g.param("b", (3,), "f32")
    g.set_outputs([g.gelu(g.add(g.matmul(x, w), b))])
    return g


def test_a_program_takes_the_inputs_and_then_the_params():
    g = rlx.Graph("g")
    w, x = g.param("w", (4,), "f32"), g.input("x", (4,), "f32")
    g.set_outputs([g.add(x, w)])
    program = g.to_program()
    assert (
        repr(program) == "Program('g', 1 node, x: float32[4], w: float32[4] -> add_2: float32[4])"
    )
    assert g.params == ("w",)


def test_a_program_is_made_once_and_anew_after_a_change():
    g = mlp()
    first = g.to_program()
    assert g.to_program() is first
    g.set_outputs([g.relu(0)])
    assert g.to_program() != first


def test_nodes_that_no_output_needs_are_left_out():
    g = rlx.Graph("g")
    x, unused = g.input("x", (4,), "f32"), g.input("unused", (2,), "f32")
    g.exp(g.sum(unused, [0]))
    g.set_outputs([g.neg(x)])
    program = g.to_program()
    assert [node.operation for node in program.nodes()] == ["Neg"]
    assert [value.name for value in program.inputs] == ["x", "unused"]
    assert program.body.constants == ()


def test_outputs_may_repeat_and_may_be_inputs_params_or_constants():
    g = rlx.Graph("g")
    x, w = g.input("x", (2,), "f32"), g.param("w", (2,), "f32")
    y = g.add(x, w)
    g.set_outputs([y, y, x, w, g.fftfreq(2)])
    with rlx.Session(backend="numpy") as session, session.compile(g) as model:
        model.set_param("w", np.ones(2, "float32"))
        found = model.run({"x": np.zeros(2, "float32")})
    assert [one.tolist() for one in found] == [[1, 1], [1, 1], [0, 0], [1, 1], [0, -0.5]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_can_be_declared_and_is_shown_by_its_name(dtype):
    g = rlx.Graph("g")
    x = g.input("x", [2, 0], dtype)
    assert g.shape_of(x) == ([2, 0], dtype)
    g.set_outputs([x])
    assert g.to_program().inputs[0].type.shape == (2, 0)


def test_sizes_may_be_names():
    g = mlp()
    assert [g.shape_of(node) for node in (0, 3)] == [(["n", 4], "f32"), (["n", 3], "f32")]
    assert g.shape_of(g.reshape(0, [-1])) == ([None], "f32")


def test_ids_are_ints_in_order():
    g = rlx.Graph("g")
    ids = [g.input(name, (1,), "f32") for name in "abc"]
    assert ids == [0, 1, 2]
    assert all(isinstance(one, int) for one in ids)
    assert json.dumps(ids) == "[0, 1, 2]"
    assert g.shape_of(2) == g.shape_of(ids[2])
    assert g.shape_of(np.int64(2)) == ([1], "f32")
    assert len(g) == 3


def test_names_of_nodes_never_meet_those_of_inputs(refusal):
    g = rlx.Graph("g")
    x = g.input("neg_1", (1,), "f32")
    y = g.input("neg_2", (1,), "f32")
    made = [g.neg(x), g.neg(y)]
    assert refusal(g.input, "neg_3", (1,), "f32").startswith("input: the name 'neg_3' is taken")
    g.set_outputs(made)
    assert [one.name for one in g.to_program().outputs] == ["neg_2_", "neg_3"]


def test_a_pickled_graph_goes_on_where_it_was():
    g = mlp()
    x = g.input("y", (3,), "f32")
    copy, node = pickle.loads(pickle.dumps((g, x)))
    assert copy.to_program() == g.to_program()
    copy.set_outputs([copy.relu(node)])
    assert repr(copy) == "<Graph mlp, 8 nodes -> f32[3]>"
    assert repr(g) == "<Graph mlp, 7 nodes -> f32[n,3]>"


def test_a_graph_keeps_its_name():
    assert mlp("main").to_program().name == "main"
    assert repr(rlx.Graph("a\u200bb")) == "<Graph a\\u200bb, 0 nodes -> no outputs>"


def test_a_program_of_a_graph_can_be_written_and_read_again():
    program = mlp().to_program()
    assert rlx.load(program.to_onnx()).digest == program.digest
    assert pickle.loads(pickle.dumps(program)) == program


def test_routing_a_graph_does_not_consume_it():
    g = mlp()
    assert rlx.route(g, backend="numpy").backend == "numpy"
    with rlx.Session(backend="numpy") as session:
        assert session.route(g).backend == "numpy"
        session.compile(g).close()
