"""Lowerings and nodes that are made to hurt: refused where they stand, in linear time."""

import numpy as np
import pytest

import rlx
from rlx.errors import ConfigError, NoBackend, ProgramError
from rlx.registries import Registry

HEAD = "apiVersion: rlx/v1\nkind: Operations\noperations:\n"


def operation(name, *lines, inputs="x", attributes="", types="[float16, float32]"):
    listed = ", ".join(
        f"{{name: {one.rstrip('?')}, type: T{', option: optional' * one.endswith('?')}}}"
        for one in inputs.split()
    )
    head = f"  - name: acme::{name}\n    inputs: [{listed}]\n"
    head += "    outputs: [{name: out, type: T}]\n"
    head += f"    types: {{T: {types}}}\n"
    head += f"    attributes: [{attributes}]\n" if attributes else ""
    return head + "    lowering: |\n" + "".join(f"      {line}\n" for line in lines)


@pytest.fixture
def registry(tmp_path):
    def make(*operations):
        path = tmp_path / "operations.yaml"
        path.write_text(HEAD + "".join(operations), encoding="utf-8")
        return Registry.load([path])

    return make


def refusals(registry, *operations):
    with pytest.raises(ConfigError) as caught:
        registry(*operations)
    return str(caught.value)


def nested(depth):
    graphs = [f"t{at} = If (c) <then_branch = g () => (float[3] r{at}) {{ " for at in range(depth)]
    ends = [
        f" r{at} = Identity ({f't{at + 1}' if at + 1 < depth else 'x'}) }}, "
        f"else_branch = h () => (float[3] s{at}) {{ s{at} = Relu (x) }}>"
        for at in reversed(range(depth))
    ]
    return (
        "c = Constant <value = bool {1}> ()",
        "".join(graphs) + "".join(ends),
        "out = Identity (t0)",
    )


@pytest.mark.parametrize("depth", [25, 40, 5000])
def test_graphs_nest_so_deep_and_no_deeper(registry, depth):
    """ONNX's parser calls itself for each, and protobuf gives up with an error of its own."""
    registry(operation("A", *nested(24)))
    assert "the lowering nests more than 24 graphs or types. Fix: move the inner ones" in refusals(
        registry, operation("A", *nested(depth))
    )


def test_types_nest_so_deep_and_no_deeper(registry):
    deep = "seq(" * 50_000 + "float" + ")" * 50_000
    graph = f"then_branch = g () => ({deep} r) {{ r = Relu (x) }}"
    lines = ("c = Constant <value = bool {1}> ()", f"out = If (c) <{graph}, else_branch = {graph}>")
    assert "the lowering nests more than 24 graphs or types." in refusals(
        registry, operation("A", *lines)
    )


def test_lowerings_that_double_each_other_are_refused(registry):
    """Forty of them would be a million million nodes."""
    first = operation("A0", "out = Relu (x)")
    others = (
        operation(f"A{at}", f"a = acme.A{at - 1} (x)", f"out = acme.A{at - 1} (a)")
        for at in range(1, 40)
    )
    text = refusals(registry, first, *others)
    assert (
        "the lowering of acme::A15 becomes more than 20000 nodes, all the way down. "
        "Fix: repeat with a Loop, or write it in fewer operations." in text
    )
    assert "acme::A16 becomes" not in text  # what rests on it is not to blame again


@pytest.mark.parametrize("length", [101, 1500])
def test_lowerings_go_so_deep_and_no_deeper(registry, length):
    def chain(many):
        yield operation("A0", "out = Relu (x)")
        for at in range(1, many):
            yield operation(f"A{at}", f"out = acme.A{at - 1} (x)")

    registry(*chain(100))
    assert (
        "acme::A100 is lowered through 101 lowerings within each other, there may be 100. "
        "Fix: write it in operations of ONNX." in refusals(registry, *chain(length))
    )


def test_a_large_circle_is_named_in_few_words(registry):
    many = 1500
    text = refusals(
        registry,
        *(operation(f"A{at:04}", f"out = acme.A{(at + 1) % many:04} (x)") for at in range(many)),
    )
    assert "lowered in a circle: acme::A0000 to acme::A0001 to" in text
    assert "to … to" in text
    assert len(text) < 5000


def test_what_is_read_of_a_long_lowering_is_looked_up_once(registry, monkeypatch):
    """Once for each line was quadratic: a thousand lines took twenty seconds."""
    from rlx.freeze import lowerings

    calls = []
    of = lowerings.tokens
    monkeypatch.setattr(lowerings, "tokens", lambda text: calls.append(1) or of(text))
    lines = ["v0 = Relu (x)", *(f"v{at} = Relux (v{at - 1})" for at in range(1, 300))]
    refusals(registry, operation("A", *lines, "out = Relu (v299)"))
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("attribute", "used", "said"),
    [
        ("STRING, default: a", "@s", "the attribute alpha of LeakyRelu is FLOAT, got STRING"),
        ("INT, default: 1", "@s", "the attribute alpha of LeakyRelu is FLOAT, got INT"),
        ("FLOATS, default: [1.0]", "@s", "the attribute alpha of LeakyRelu is FLOAT, got FLOATS"),
        ("FLOAT", '"t"', "the attribute alpha of LeakyRelu is FLOAT, got STRING"),
    ],
)
def test_attributes_of_a_lowering_have_the_type_declared(registry, attribute, used, said):
    made = operation(
        "A", f"out = LeakyRelu <alpha = {used}> (x)", attributes=f"{{name: s, type: {attribute}}}"
    )
    assert f"{said}. Fix: write a value that is FLOAT." in refusals(registry, made)


NODES = (
    operation(
        "A",
        "out = LeakyRelu <alpha = @s> (x)",
        inputs="x w?",
        attributes="{name: s, type: FLOAT, required: true}",
    ),
    operation("Wide", "out = Cast <to = 11> (x)", types="[float16, float32, float64]"),
    operation("Long", "two = Constant <value_ints = [1, 3]> ()", "out = Reshape (x, two)"),
)


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("y = acme.A (x)", " lacks its attribute s. Fix: state it: it is FLOAT."),
        ('y = acme.A <s = "t"> (x)', ": its attribute s is FLOAT, got STRING. Fix:"),
        ("y = acme.A <s = 1> (x)", ": its attribute s is FLOAT, got INT. Fix:"),
        ("y = acme.A <s = 1.0, q = 1> (x)", " has the attribute 'q', which is not declared, at "),
        ("y = acme.A <s = 1.0> ()", " lacks its input x. Fix: name it, or"),
        ("y = acme.A <s = 1.0> (, x)", " lacks its input x. Fix: name it, or"),
        ("y = acme.A <s = 1.0> (x, x, x)", " has 3 inputs, its declaration has 2, at "),
        ("y, z = acme.A <s = 1.0> (x)", " has 2 outputs, its declaration has 1, at "),
    ],
)
def test_a_node_is_as_it_is_declared(registry, load, node, said):
    """Else what is left out, or not known, would be ignored without a word."""
    program = load("float[3] x", "float[3] y", node)
    with pytest.raises(ProgramError) as caught:
        rlx.route(program, backend="numpy", registry=registry(*NODES))
    assert f"node 'A_0' acme::A{said}" in str(caught.value)


@pytest.mark.parametrize(
    ("takes", "gives", "node", "said"),
    [
        ("float[3]", "float[3]", "Wide", "its lowering makes out float64[3], the program has"),
        ("float[3]", "float[3]", "Long", "its lowering makes out float32[1, 3], the program has"),
        ("int64[3]", "int64[3]", "Long", "its x is int64, it may be float16, float32"),
        ("float[3]", "float16[1,3]", "Long", "its out is float16, where T is float32"),
    ],
)
def test_a_lowering_makes_what_is_declared(registry, load, takes, gives, node, said):
    """Else a backend would be blamed for what the lowering computes, or no one."""
    program = load(f"{takes} x", f"{gives} y", f"y = acme.{node} (x)")
    with (
        pytest.raises(NoBackend) as caught,
        rlx.Session(backend="numpy", registry=registry(*NODES)) as session,
    ):
        session.compile(program)
    assert said in str(caught.value)


def test_thousands_of_nodes_share_what_is_worked_out(registry, load):
    """One template for all that are alike."""
    from rlx.operations.lowering import library_of

    many = 2000
    lines = [f"v{at} = acme.A <s = 0.5> ({f'v{at - 1}' if at else 'x'})" for at in range(many)]
    program = load("float[3] x", "float[3] y", *lines, f"y = Identity (v{many - 1})")
    words = registry(*NODES)
    with rlx.Session(backend="numpy", registry=words) as session:
        (got,) = session.compile(program)(np.array([1, -1, 2], np.float32))
    assert got.tolist() == [1, 0, 2]  # half of it, two thousand times
    assert len(library_of(words.vocabulary).templates) == 1
