"""`rlx::Barrier` in a program: what it may be, the types behind it, and where it cuts."""

import onnx
import pytest

from rlx.errors import ProgramError
from rlx.program import load
from rlx.program.cuts import cuts
from rlx.program.stages import stages

RLX = ', "rlx" : 1'
LOOP = "b = rlx.Barrier(x)  n = Neg(b)  y = rlx.Barrier<repeat=3>(n)"


def program(parse, graph, **fields):
    return load(parse(graph, more=RLX, **fields))


REFUSED = [
    (
        "g (bool c, float[2] x) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] a)"
        " { a = rlx.Barrier(x) }, else_branch = e () => (float[2] d) { d = Neg(x) }> }",
        "node 'Barrier_2' (rlx::Barrier) stands in a graph of node 'If_0' (If): a barrier divides "
        "the program's own nodes. Fix: put it before or after that node.",
    ),
    (
        "g (float[2] x) => (float[2] y) { y = rlx.Barrier(x, x) }",
        "node 'Barrier_0' (rlx::Barrier) takes 2 values and gives 1: it gives each one on. "
        "Fix: name as many outputs as inputs.",
    ),
    (
        'g (float[2] x) => (float[2] y) { y, z = rlx.Barrier(x, "") }',
        "node 'Barrier_0' (rlx::Barrier) lacks a value: it takes one or more, none left out. "
        "Fix: see docs/barriers.md.",
    ),
    (
        "g (float[2] x) => (float[2] y) { z = rlx.Barrier()  y = Neg(x) }",
        "node 'Barrier_0' (rlx::Barrier) lacks a value: it takes one or more, none left out. "
        "Fix: see docs/barriers.md.",
    ),
    (
        "g (float[2] x) => (float[2] y) { y = rlx.Barrier<times=3>(x) }",
        "node 'Barrier_0' (rlx::Barrier) has an unknown attribute 'times'. "
        "Fix: it may have fixpoint, repeat, stages.",
    ),
    (
        "g (float[2] x) => (float[2] y) { y = rlx.Barrier<repeat=2.0>(x) }",
        "node 'Barrier_0' (rlx::Barrier): its repeat must be a whole number. "
        "Fix: see docs/barriers.md.",
    ),
    (
        "g (float[2] x) => (float[2] y) { y = rlx.Barrier<repeat=0>(x) }",
        "node 'Barrier_0' (rlx::Barrier): its repeat must be at least 1, got 0. "
        "Fix: see docs/barriers.md.",
    ),
    (
        "g (float[2] x) => (float[2] y) { y = rlx.Barrier<repeat=2, fixpoint=2>(x) }",
        "node 'Barrier_0' (rlx::Barrier): its fixpoint must be 0 or 1, got 2. "
        "Fix: see docs/barriers.md.",
    ),
    (
        "g (float[2] x) => (float[2] y) { y = rlx.Barrier<fixpoint=1>(x) }",
        "node 'Barrier_0' (rlx::Barrier) states fixpoint, and no repeat. "
        "Fix: state repeat: how often what is before it is run, at most.",
    ),
    (
        "g (float[2] x) => (float[2] y) { n = Neg(x)  y = rlx.Barrier<repeat=2>(n) }",
        "node 'Barrier_1' (rlx::Barrier) repeats the stage before it, and no barrier stands where "
        "that begins. Fix: put a barrier there, which gives the values on that each pass begins "
        "with.",
    ),
    (
        "g (float[2] x) => (float[2] y) { b = rlx.Barrier(x) "
        "y = rlx.Barrier<repeat=2, stages=2>(b) }",
        "node 'Barrier_1' (rlx::Barrier) repeats 2 stages before it, and no barrier stands where "
        "that begins. Fix: put a barrier there, which gives the values on that each pass begins "
        "with.",
    ),
    (
        "g (float[2] x) => (float[2] y) { b, c = rlx.Barrier(x, x) y = rlx.Barrier<repeat=2>(b) }",
        "node 'Barrier_1' (rlx::Barrier) has 1 values for the next pass, and node 'Barrier_0' "
        "(rlx::Barrier), where it begins, gives 2 on. "
        "Fix: let both have the same values, in the same order.",
    ),
    (
        "g (float[2] x) => (float[2] y) { a = rlx.Barrier(x)  b = rlx.Barrier(a) "
        "c = rlx.Barrier<repeat=2, stages=2>(b)  y = rlx.Barrier<repeat=2, stages=2>(c) }",
        "node 'Barrier_3' (rlx::Barrier) repeats a part only of what node 'Barrier_2' "
        "(rlx::Barrier) repeats. "
        "Fix: let one repetition hold all of the other, or nothing of it.",
    ),
    (
        "g (float[2] x) => (float[4] y) { b = rlx.Barrier(x)  n = Concat<axis=0>(b, b) "
        "y = rlx.Barrier<repeat=2>(n) }",
        "node 'Barrier_2' (rlx::Barrier) gives 'n' float32[4] back as 'x' float32[2]: a value "
        "keeps its type from pass to pass. Fix: convert it within the stage.",
    ),
    (
        "g (float[2] x) => (int64[2] y) { b = rlx.Barrier(x)  n = Cast<to=7>(b) "
        "y = rlx.Barrier<repeat=2>(n) }",
        "node 'Barrier_2' (rlx::Barrier) gives 'n' int64[2] back as 'x' float32[2]: a value "
        "keeps its type from pass to pass. Fix: convert it within the stage.",
    ),
]


@pytest.mark.parametrize(("graph", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_barrier_that_is_none_is_refused(parse, graph, message):
    with pytest.raises(ProgramError) as caught:
        program(parse, graph)
    assert str(caught.value) == message


def test_a_barrier_in_a_local_function_is_the_programs_own(parse):
    text = """<ir_version: 8, opset_import: ["" : 17, "rlx" : 1, "own" : 1]>
    g (float[2] x) => (float[2] y) { y = own.Fenced(x) }
    <domain: "own", opset_import: ["" : 17, "rlx" : 1]>
    Fenced (a) => (d) { b = Neg(a)  c = rlx.Barrier(b)  d = Neg(c) }"""
    loaded = load(onnx.parser.parse_model(text))
    assert [node.operation for node in loaded.body.nodes] == ["Neg", "rlx::Barrier", "Neg"]
    assert len(cuts(loaded.body)) == 2


TYPES = [
    ("g (float[N, 3] x) => (float[N, 3] y) { y = rlx.Barrier(x) }", "float32", ("N", 3), "tensor"),
    (
        "g (seq(float[2]) x) => (seq(float[2]) y) { y = rlx.Barrier(x) }",
        "seq(float32)",
        None,
        "sequence",
    ),
    (
        "g (optional(float[2]) x) => (optional(float[2]) y) { y = rlx.Barrier(x) }",
        "optional(float32)",
        None,
        "optional",
    ),
]


@pytest.mark.parametrize(("graph", "dtype", "shape", "kind"), TYPES)
def test_types_pass_a_barrier(parse, graph, dtype, shape, kind):
    loaded = program(parse, graph.replace("y = rlx.Barrier(x)", "b = rlx.Barrier(x) y=Identity(b)"))
    found = dict(loaded.body.types)["b"]
    assert (found.dtype, found.shape, found.kind) == (dtype, shape, kind)
    assert all(signature.known for signature in loaded.requirements.signatures)


def test_it_is_read_and_written_as_onnx(parse):
    loaded = program(parse, f"g (float[2] x) => (float[2] y) {{ {LOOP} }}")
    again = load(loaded.to_onnx())
    assert again == loaded
    assert [(one.domain, one.version) for one in loaded.to_onnx().opset_import] == [
        ("", 13),
        ("rlx", 1),
    ]


def shown(parse, graph):
    """Per stage: what it is handed, and what it gives."""
    return [
        None
        if stage.program is None
        else (
            " ".join(value.name for value in stage.program.inputs),
            " ".join(value.name for value in stage.program.outputs),
            " ".join(name for name, _ in stage.program.body.constants),
        )
        for stage in stages(program(parse, graph)).stages
    ]


CUTS = {
    "a value that only a late stage reads goes past the others": (
        "g (float[2] x, float[2] u) => (float[2] y) { a = Neg(x)  b = rlx.Barrier(a) "
        "c = Neg(b)  d = rlx.Barrier(c)  y = Add(d, u) }",
        [("x", "a", ""), ("b", "c", ""), ("d u", "y", "")],
    ),
    "an output that is made early is not handed on": (
        "g (float[2] x) => (float[2] y, float[2] a) { a = Neg(x)  b = rlx.Barrier(x) y = Neg(b) }",
        [("x", "a", ""), ("b", "y", "")],
    ),
    "a stage reads a value under its old name": (
        "g (float[2] x) => (float[2] y) { a = Neg(x)  b = rlx.Barrier(a)  y = Add(a, b) }",
        [("x", "a", ""), ("a b", "y", "")],
    ),
    "one value crosses under two names": (
        "g (float[2] x) => (float[2] y) { a = Neg(x)  b, c = rlx.Barrier(a, a)  y = Add(b, c) }",
        [("x", "a", ""), ("b c", "y", "")],
    ),
    "a constant is in every stage that reads it": (
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Add(x, w) "
        "b = rlx.Barrier(a)  y = Add(b, w) }",
        [("x", "a", "w"), ("b", "y", "w")],
    ),
    "a constant that crosses is handed over": (
        "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { v = rlx.Barrier(w) y = Add(x, v) }",
        [None, ("x v", "y", "")],
    ),
    "barriers side by side, first and last": (
        "g (float[2] x) => (float[2] y) { a = rlx.Barrier(x)  b = rlx.Barrier(a)  n = Neg(b) "
        "y = rlx.Barrier(n) }",
        [None, None, ("b", "n", ""), None],
    ),
    "what nobody reads is run all the same": (
        "g (float[2] x) => (float[2] y) { n = Neg(x)  b = rlx.Barrier(x)  y = Neg(b) }",
        [("x", "n", ""), ("b", "y", "")],
    ),
    "a name within a graph is another than that of a later stage": (
        "g (bool c, float[2] x) => (float[2] y) { a = Neg(x)  b = rlx.Barrier(a) "
        "d = If (c) <then_branch = t () => (float[2] p) { p = Add(a, b) }, "
        "else_branch = e () => (float[2] q) { p = Neg(x)  q = Neg(p) }>  f = rlx.Barrier(d) "
        "p = Neg(f)  y = Add(p, a) }",
        [("x", "a", ""), ("c x a b", "d", ""), ("f a", "y", "")],
    ),
}


@pytest.mark.parametrize("case", CUTS)
def test_stages_are_handed_what_they_read(parse, case):
    graph, expected = CUTS[case]
    assert shown(parse, graph) == expected


def test_stages_are_made_once(parse):
    loaded = program(parse, f"g (float[2] x) => (float[2] y) {{ {LOOP} }}")
    assert stages(loaded) is stages(loaded)


def test_a_value_of_an_unknown_type_can_not_cross(parse):
    graph = "g (float[2] x) => (float[2] y) { a = odd.Thing(x)  b = rlx.Barrier(a)  y = Neg(b) }"
    loaded = load(parse(graph, more=RLX + ', "odd" : 1'))
    with pytest.raises(ProgramError) as caught:
        stages(loaded)
    assert str(caught.value) == (
        "g can't be cut at its barriers: the type of 'a', which a stage is handed or gives, is "
        "not known. Fix: declare what makes it in an Operations manifest, or state its type in "
        "the program's value_info."
    )


def test_values_are_let_go_once_nothing_reads_them(parse):
    graph = """g (float[2] x, float[2] u) => (float[2] y) { a = Neg(x)  b = rlx.Barrier(a)
    c = Add(b, u)  d = rlx.Barrier<repeat=2>(c)  e = rlx.Barrier(d)  y = Neg(e) }"""
    assert [cut.dead for cut in cuts(program(parse, graph).body)] == [
        ("x", "a"),
        ("b", "u", "c"),
        ("d",),
        ("e",),
    ]
