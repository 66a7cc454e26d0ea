"""Running in stages: values by name, repeats, errors with their place, arrays of the backend's."""

import copy

import numpy as np
import pytest
from onnx import parser

import rlx
from rlx import testing
from rlx.backends.protocol import CompileOptions
from rlx.device import DeviceSpec
from rlx.errors import ExecutionError, SessionClosed
from rlx.program import load
from rlx.session import leases

HEAD = '<ir_version: 10, opset_import: ["" : 21, "rlx" : 1]>'
X = np.array([1, -2], np.float32)
ENGINES = {"onnxruntime-cpu": "onnxruntime", "torch-cpu": "torch", "jax-cpu": "jax", "mlx": "mlx"}
"""Backends, and what they need; the last three have arrays of their own."""


def program(graph):
    return load(parser.parse_model(f"{HEAD}\n{graph}"))


def run(graph, *inputs, backend="numpy"):
    with rlx.Session(backend=backend) as session, session.compile(program(graph)) as model:
        return model(*inputs)


THREE = """three (float[2] x) => (float[2] y) { a = Neg(x)  b = rlx.Barrier(a)  c = rlx.Barrier(b)
y = Neg(c) }"""


PROGRAMS = {
    "outputs in the program's order, whichever stage makes them": (
        "g (float[2] x) => (float[2] y, float[2] a, float[2] c) { a = Neg(x)  b = rlx.Barrier(a) "
        "c = Add(b, b)  d = rlx.Barrier(c)  y = Neg(d) }",
        [[2, -4], [-1, 2], [-2, 4]],
    ),
    "only barriers": (
        "g (float[2] x) => (float[2] y) { a = rlx.Barrier(x)  y = rlx.Barrier(a) }",
        [[1, -2]],
    ),
    "an input, a constant and a barrier's value are outputs": (
        "g (float[2] x) => (float[2] x, float[2] w, float[2] b, float[2] v) "
        "<float[2] w = {3, 4}> { b, v = rlx.Barrier(x, w) }",
        [[1, -2], [3, 4], [1, -2], [3, 4]],
    ),
    "what nobody reads": (
        "g (float[2] x, float[2] u) => (float[2] y) { n = Neg(u)  b, c = rlx.Barrier(x, n) "
        "y = Neg(b) }",
        [[-1, 2]],
    ),
    "a repeated stage, and what is read of its last pass": (
        "g (float[2] x) => (float[2] y, float[2] n, float[2] b) { b = rlx.Barrier(x) "
        "n = Add(b, b)  y = rlx.Barrier<repeat=3>(n) }",
        [[8, -16], [8, -16], [4, -8]],
    ),
    "a repetition within another": (
        "g (float[2] x) => (float[2] y) <float[1] one = {1}> { b = rlx.Barrier(x) "
        "n = Add(b, one)  c = rlx.Barrier<repeat=3>(n)  m = Add(c, c) "
        "y = rlx.Barrier<repeat=2, stages=2>(m) }",
        [[22, 10]],
    ),
    "two values that change places": (
        "g (float[2] x) => (float[2] y, float[2] z) { n = Neg(x)  a, b = rlx.Barrier(x, n) "
        "y, z = rlx.Barrier<repeat=2>(b, a) }",
        [[1, -2], [-1, 2]],
    ),
}


def held():
    """Every program on two backends, and two of them on those of each engine."""
    for case in PROGRAMS:
        for backend in ("numpy", "reference"):
            yield pytest.param(case, backend, id=f"{backend}: {case}")
    for backend, engine in ENGINES.items():
        for case in ("a repetition within another", list(PROGRAMS)[2]):
            mark = pytest.mark.needs(engine)
            yield pytest.param(case, backend, marks=mark, id=f"{backend}: {case}")


@pytest.mark.parametrize(("case", "backend"), [*held()])
def test_stages_give_what_the_program_says(case, backend):
    graph, expected = PROGRAMS[case]
    inputs = [X] * (1 + ("float[2] u" in graph))
    found = run(graph, *inputs, backend=backend)
    assert [one.tolist() for one in found] == expected
    for at, one in enumerate(found):
        assert not any(np.shares_memory(one, other) for other in (*inputs, *found[:at]))


CONTAINERS = {
    "sequence": (
        "g (float[2] x) => (float[2] y) <int64 i = {1}> { n = Neg(x)  s = SequenceConstruct(x, n) "
        "t, j = rlx.Barrier(s, i)  y = SequenceAt(t, j) }",
        [-1, 2],
    ),
    "optional": (
        "g (float[2] x) => (float[2] y) { n = Neg(x)  o = Optional(n)  p = rlx.Barrier(o) "
        "y = OptionalGetElement(p) }",
        [-1, 2],
    ),
    "absent optional": (
        "g (float[2] x) => (bool y) { o = Optional<type = float[2]>()  p = rlx.Barrier(o) "
        "y = OptionalHasElement(p) }",
        False,
    ),
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_sequences_and_optionals_cross_barriers(case):
    graph, expected = CONTAINERS[case]
    (found,) = run(graph, X)
    assert found.tolist() == expected


def test_sequences_and_text_are_given_on():
    graph = """g (seq(float[2]) s, string[2] t) => (seq(float[2]) y, string[2] u, string[2] v)
    { y, v = rlx.Barrier(s, t)  u = Identity(t) }"""
    given = [X, -X]
    words = np.array(["a", "b"], object)
    y, u, v = run(graph, given, words)
    assert [one.tolist() for one in y] == [[1, -2], [-1, 2]]
    assert u.tolist() == v.tolist() == ["a", "b"]
    assert y is not given
    assert not any(np.shares_memory(a, b) for a in y for b in given)
    assert v is not words


def test_a_fixpoint_ends_the_repetition():
    """Counted by the runs of a stage, which the null backend keeps."""
    graph = "g (float[2] x) => (float[2] y) { b = rlx.Barrier(x)  n = Abs(b) y = REPEAT(n) }"
    for repeat, fixpoint, passes in ((5, 0, 5), (5, 1, 2), (1, 0, 1)):
        loaded = program(
            graph.replace("REPEAT", f"rlx.Barrier<repeat={repeat}, fixpoint={fixpoint}>")
            if repeat > 1
            else graph.replace("REPEAT", "rlx.Barrier")
        )
        one = testing.registration("null", coverage=testing.covering(loaded))
        with rlx.Session(backend="null", registry=testing.registry(one)) as session:
            session.compile(loaded)(X)
            assert testing.watch("null").ran == passes
        testing.forget_watches()


def test_nan_is_a_fixpoint_too():
    graph = """g (float[2] x) => (float[2] y) <float[1] big = {1000000}> { b = rlx.Barrier(x)
    s = Sqrt(b)  y = rlx.Barrier<repeat=9223372036854775807, fixpoint=1>(s) }"""
    (found,) = run(graph, np.array([-1, 1], np.float32))
    assert str(found.tolist()) == "[nan, 1.0]"


def test_a_value_that_changes_its_shape_from_pass_to_pass_is_refused():
    graph = """g (float[N] x) => (float[M] y) { b = rlx.Barrier(x)  n = Concat<axis=0>(b, b)
    y = rlx.Barrier<repeat=3>(n) }"""
    with pytest.raises(ExecutionError) as caught:
        run(graph, X)
    named = "barrier 'Barrier_2' gives 'n' to the next pass as float32[4] after pass 1"
    assert str(caught.value) == (
        f"numpy failed to run g: {named}, it was float32[2]. "
        "Fix: keep the shape of what is repeated, such as by padding."
    )


def staged(graph, **fields):
    """A program on the null backend."""
    loaded = program(graph)
    one = testing.registration("null", coverage=testing.covering(loaded), **fields)
    return loaded, testing.registry(one)


def test_a_precision_that_one_stage_refuses_is_given_up_for_all():
    loaded, registry = staged(THREE)
    testing.watch("null").precisions = ()
    with rlx.Session(
        backend="null", registry=registry, precision="f16", precision_policy="allow"
    ) as session:
        model = session.compile(loaded)
        model.close()
        assert model.options.precision is None
        assert [one.precision for one in testing.watch("null").options][-2:] == [None, None]


def test_every_stage_is_closed_and_a_closed_one_says_so():
    loaded, registry = staged(THREE)
    with rlx.Session(backend="null", registry=registry) as session:
        model = session.compile(loaded)
        model.close()
        with pytest.raises(SessionClosed, match=r"three on cpu:0 .* is closed"):
            model(X)


def test_two_policies_open_a_backend_of_their_own():
    """A lease is on a backend that treats barriers as its registration says."""
    loaded, one = staged(THREE)
    _, other = staged(THREE, capabilities=("barriers",))
    first, second = (leases.acquire(each.get("null"), DeviceSpec("cpu")) for each in (one, other))
    with first, second:
        assert first.backend is not second.backend
        for lease, parts in ((first, 2), (second, 1)):
            before = len(testing.watch("null").programs)
            lease.backend.compile(loaded, CompileOptions())
            assert len(testing.watch("null").programs) == before + parts


@pytest.mark.needs("torch")
def test_values_stay_the_backends_own_between_stages():
    import torch

    loaded = program(THREE)
    with rlx.Session(backend="torch-cpu") as session, session.compile(loaded) as model:
        (y,) = model(torch.tensor([1.0, -2.0]), native=True)
        assert isinstance(y, torch.Tensor)
        assert y.tolist() == [1, -2]
        (z,) = model(copy.copy(X))
        assert isinstance(z, np.ndarray)


def test_a_graph_with_barriers_has_params_as_any_other():
    g = rlx.Graph("g")
    x, w = g.input("x", (2,), "f32"), g.param("w", (2,), "f32")
    (a,) = g.barrier([x])
    (y,) = g.barrier([g.mul(a, w)], repeat=3)
    g.set_outputs([y, y])
    with rlx.Session(backend="numpy") as session, session.compile(g) as model:
        model.set_param("w", np.array([2, 3], np.float32))
        assert [one.tolist() for one in model.run({"x": X})] == [[8, -54], [8, -54]]
