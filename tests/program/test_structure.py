"""Names and order: undefined, defined twice, in a circle; and what types say of them."""

import pytest

from rlx.program import load


def test_nodes_out_of_order_are_put_in_order(parse):
    program = load(parse("g (float[1] x) => (float[1] y) { y = Add(x, z) z = Abs(x) }"))
    assert [node.operation for node in program.nodes()] == ["Abs", "Add"]


def test_a_cycle_is_refused_by_its_nodes(parse, refused):
    nodes = "{ y = Add(x, z) z = Relu(w) w = Abs(y) }"
    assert refused(parse("g (float[1] x) => (float[1] y) " + nodes)) == (
        "graph 'g' has a cycle: node 2 (Abs) → node 1 (Relu) → node 0 (Add)"
    )


def test_a_node_that_reads_itself_is_a_cycle(parse, refused):
    assert refused(parse("g (float[1] x) => (float[1] y) { y = Add(x, y) }")) == (
        "graph 'g' has a cycle: node 0 (Add)"
    )


def test_an_undefined_name_is_refused_with_the_nearest_one(parse, refused):
    assert refused(parse("g (float[1] left) => (float[1] y) { y = Add(left, lift) }")) == (
        "node 0 (Add) reads 'lift', which nothing defines (did you mean 'left'?)"
    )


def test_an_undefined_output_is_refused(parse, refused):
    assert refused(parse("g (float[1] x) => (float[1] zzz) { y = Relu(x) }")) == (
        "the output list of graph 'g' reads 'zzz', which nothing defines"
    )


def test_a_name_defined_twice_is_refused(parse, refused):
    assert refused(parse("g (float[1] x) => (float[1] y) { y = Relu(x) y = Abs(x) }")) == (
        "node 1 (Abs) defines 'y', which is defined already"
    )


def test_an_input_twice_is_refused(parse, refused):
    assert refused(parse("g (float[1] x, float[1] x) => (float[1] y) { y = Abs(x) }")) == (
        "graph 'g' has an input 'x' twice"
    )


def test_a_name_within_a_subgraph_is_not_known_outside(parse, refused):
    model = parse(
        """g (bool b, float[1] x) => (float[1] y) {
        t = If (b) <then_branch = p () => (float[1] inner) { inner = Relu(x) },
                    else_branch = q () => (float[1] c) { c = Abs(x) }>
        y = Abs(inner) }"""
    )
    assert refused(model).startswith("node 1 (Abs) reads 'inner', which nothing defines")


def test_an_unknown_attribute_is_refused_by_its_node(parse, refused):
    assert refused(parse("g (float[1] x) => (float[1] y) { y = Relu<bogus=1>(x) }")) == (
        "node 'Relu_0' (Relu): Unrecognized attribute: bogus for operator Relu"
    )


def test_types_that_contradict_are_refused_by_their_node(parse, refused):
    model = parse("g (float[1] x, int64[1] z) => (float[1] y) { y = Add(x, z) }")
    assert refused(model) == "node 'Add_0' (Add): B has inconsistent type tensor(int64)"


def test_shapes_that_contradict_are_refused_by_their_node(parse, refused):
    model = parse("g (float[2,3] x, float[4,5] z) => (float[A,B] y) { y = MatMul(x, z) }")
    assert refused(model) == (
        "node 'MatMul_0' (MatMul): Incompatible dimensions for matrix multiplication"
    )


def test_a_wrong_note_about_an_inner_value_is_ignored(parse):
    model = parse("g (float[2] x) => (float[2] y) <float[9] t> { t = Abs(x) y = Abs(t) }")
    assert dict(load(model).body.types)["t"].shape == (2,)


def test_beside_foreign_operations_types_are_kept_as_far_as_they_are_known(parse):
    nodes = "{ t = acme.Foo(x) u = Abs(x) y = Add(t, u) }"
    model = parse("g (float[2] x) => (float[2] y) " + nodes, more=', "acme": 3')
    foreign, known, mixed = load(model).requirements.signatures
    assert (foreign.operation, foreign.known) == ("acme::Foo", False)
    assert (known.known, mixed.known) == (True, True)


HOSTILE = [
    ("Split<num_outputs=1000000000>(x)", 18, "has num_outputs 1000000000, not from 0 to 1000000"),
    ("Split<num_outputs=2>(x)", 18, "has num_outputs 2 and 1 outputs"),
    ('Einsum<equation="...........">(x)', 17, "has no valid equation, got '...........'"),
    ("Conv<group=-1>(x, x)", 17, "has group -1, not from 1 to 1000000"),
    ("Conv<group=0>(x, x)", 17, "has group 0, not from 1 to 1000000"),
]


@pytest.mark.parametrize(("node", "opset", "problem"), HOSTILE)
def test_attributes_that_hang_inference_are_refused(parse, refused, node, opset, problem):
    operation = node.split("<")[0]
    model = parse(f"g (float[4,1,1] x) => (float[A,B,C] y) {{ y = {node} }}", opset)
    assert refused(model) == f"node 0 ({operation}) {problem}"


def test_an_output_without_a_type_gets_the_one_that_follows(parse):
    model = parse("g (float[2] x) => (float[2] y) { y = Shape(x) }")
    model.graph.output[0].ClearField("type")
    assert load(model).outputs[0].type.dtype == "int64"


def test_an_input_without_a_type_is_refused(parse, refused):
    model = parse("g (float[2] x) => (float[2] y) { y = Abs(x) }")
    model.graph.input[0].ClearField("type")
    assert refused(model) == "the input 'x' has no type"


def test_names_from_a_file_are_shown_escaped(parse, refused):
    model = parse("g (float[2] x) => (float[2] y) { y = Abs(x) }")
    model.graph.node[0].input[0] = "\x1b[31m\n\u202e"
    assert refused(model) == ("node 0 (Abs) reads '\\x1b[31m\\n\\u202e', which nothing defines")


def test_a_number_of_dimensions_may_be_unknown(parse):
    model = parse("g (float[2] x) => (float[2] y) { y = Abs(x) }")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.ClearField("shape")
    program = load(model)
    assert (program.inputs[0].type.shape, program.outputs[0].type.shape) == (None, None)
    assert program.requirements.capabilities == ("dynamic_shapes",)
