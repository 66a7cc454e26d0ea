"""What a graph's methods refuse, and the whole message: the method, the argument, what was got."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import rlx

TABLE = Path(__file__).with_name("refusals.txt")
"""A call, and below it the message, with the fix where that is not the class's own."""


def rows():
    lines = TABLE.read_text("utf-8").splitlines()
    return [
        pytest.param(call, message.strip(), id=call)
        for call, message in zip(lines[::2], lines[1::2], strict=True)
    ]


@pytest.fixture
def nodes():
    """A graph, its nodes by name, and a node of another graph."""
    g = rlx.Graph("g")
    shapes = {"f": ((2, 4), "f32"), "i": (("n", 4), "i64"), "b": ((2, 4), "bool")}
    shapes |= {"h": ((2, 4), "f16"), "s": ((), "f32"), "q": ((1, 2, 3, 4), "f32")}
    found = {name: g.input(name, *one) for name, one in shapes.items()}
    found["v"] = g.param("v", (4,), "f32")
    found |= {name: g.input(name, one, "f32") for name, one in (("z3", (1, 3, 8)), ("z1", (2, 3)))}
    other = rlx.Graph("other")
    return g, SimpleNamespace(**found, alien=other.input("x", (2, 4), "f32"))


@pytest.mark.parametrize(("call", "message"), rows())
def test_what_does_not_fit_is_refused_where_it_is_written(nodes, refusal, call, message):
    g, names = nodes
    if ". Fix: " not in message:
        message = f"{message}. Fix: {rlx.GraphError.fix}"
    assert refusal(eval, call, {"g": g, **vars(names)}) == message


def test_a_refusal_leaves_the_graph_as_it_was(nodes, refusal):
    g, n = nodes
    refusal(g.gelu, n.i)
    assert len(g) == 9
    g.set_outputs([g.gelu(n.f)])
    assert g.to_program().node_count == 1


def test_a_graph_without_outputs_is_no_program(refusal):
    message = "the graph 'g' has no outputs. Fix: state them with set_outputs([...])."
    assert refusal(rlx.Graph("g").to_program) == message


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_graph_has_a_name(refusal, name):
    message = f"Graph: name must be text, not empty, got {name!r}. Fix: {rlx.GraphError.fix}"
    assert refusal(rlx.Graph, name) == message


def test_a_refusal_is_a_value_error_with_a_code():
    assert issubclass(rlx.GraphError, ValueError)
    assert (rlx.GraphError.code, rlx.GraphConsumed.code) == ("graph", "graph-consumed")
    assert issubclass(rlx.GraphConsumed, RuntimeError)
