"""What a node's signature and a program's requirements hold."""

import numpy as np
import pytest

from rlx.program import Block, Signature, ValueType, load


def only(model) -> Signature:
    (signature,) = load(model).requirements.signatures
    return signature


def test_a_signature_has_the_open_types_all_attributes_and_ndims(parse):
    model = parse("g (float[N,3,8,8] x, float[4,3,3,3] w) => (float[A,B,C,D] y) { y = Conv(x, w) }")
    assert only(model) == Signature(
        "Conv",
        (("T", "float32"),),
        (
            ("auto_pad", "NOTSET"),
            ("dilations", None),
            ("group", 1),
            ("kernel_shape", None),
            ("pads", None),
            ("strides", None),
        ),
        ((0, 4), (1, 4)),
    )


def test_omitted_operands_give_no_fact(parse):
    model = parse("g (float[4] x, float h) => (float[4] y) { y = Clip(x, , h) }")
    assert only(model) == Signature("Clip", (("T", "float32"),), (), ((0, 1), (2, 0)))


def test_fixed_types_are_no_fact_and_tensor_attributes_are_none(parse):
    nodes = "{ s = Constant<value = int64[1] {2}>() y = ConstantOfShape(s) }"
    constant, filled = load(parse("g () => (float[2] y) " + nodes)).requirements.signatures
    assert "value" not in dict(constant.attributes)
    assert filled == Signature("ConstantOfShape", (("T2", "float32"),), (), ((0, 1),))


def test_sequences_and_optionals_are_named_in_full(parse):
    graph = "g (float[2] x) => (seq(float[2]) s, optional(seq(float[2])) o)"
    program = load(parse(graph + "{ s = SequenceConstruct(x, x) o = Optional(s) }"))
    sequence, optional = program.requirements.signatures
    assert sequence.types == (("S", "seq(float32)"), ("T", "float32"))
    assert optional.types == (("O", "optional(seq(float32))"), ("V", "seq(float32)"))
    assert optional.ndims == ()
    assert program.outputs[1].type == ValueType("optional(seq(float32))", None, "optional")


def test_nodes_that_agree_share_one_signature(parse):
    nodes = "{ a = Relu(x) b = Abs(a) c = Relu(b) y = Relu(c) }"
    program = load(parse("g (float[2] x) => (float[2] y) " + nodes))
    requirements = program.requirements
    assert [s.operation for s in requirements.signatures] == ["Relu", "Abs"]
    assert (requirements.first_nodes, requirements.counts) == ((0, 1), (3, 1))
    nodes = list(program.nodes())
    assert nodes[0].signature is nodes[2].signature is nodes[3].signature


def test_variadic_operands_bind_each_of_their_dtypes(parse):
    model = parse(
        """g (int64 n, bool c, float[2] a, int32[2] b) => (float[2] p, int32[2] q) {
        p, q = Loop (n, c, a, b) <body = t (int64 i, bool k, float[2] u, int32[2] v) =>
          (bool l, float[2] s, int32[2] r) { l = Identity(k) s = Abs(u) r = Abs(v) }> }"""
    )
    loop = load(model).requirements.signatures[0]
    assert (loop.operation, loop.attributes) == ("Loop", ())
    assert loop.types == (("B", "bool"), ("I", "int64"), ("V", "float32"), ("V", "int32")) or (
        loop.types == (("V", "float32"), ("V", "int32"))
    )


def test_subgraph_nodes_count_and_see_outer_types(parse):
    model = parse(
        """g (bool b, double[3] x) => (double[3] y) {
        y = If (b) <then_branch = t () => (double[3] a) { a = Abs(x) },
                    else_branch = e () => (double[3] c) { c = Neg(x) }> }"""
    )
    program = load(model)
    assert [(n.index, n.operation) for n in program.nodes()] == [(0, "If"), (1, "Neg"), (2, "Abs")]
    assert program.node_count == 3
    assert program.requirements.signatures[2].types == (("T", "float64"),)
    assert all(isinstance(block, Block) for block in program.body.nodes[0].blocks())


CAPABILITIES = [
    ("g (float[2] x) => (float[2] y) { y = Relu(x) }", ()),
    ("g (float[N] x) => (float[N] y) { y = Relu(x) }", ("dynamic_shapes",)),
    ("g (string[2] x) => (string[2] y) { y = Identity(x) }", ("strings",)),
    ("g (float[2] x) => (seq(float[2]) y) { y = SequenceConstruct(x) }", ("sequences",)),
]


@pytest.mark.parametrize(("graph", "capabilities"), CAPABILITIES)
def test_a_program_implies_capabilities(parse, graph, capabilities):
    assert load(parse(graph)).requirements.capabilities == capabilities


def test_control_flow_and_barriers_are_capabilities(parse):
    branch = "y = If (b) <then_branch = t () => (float[2] a) { a = Abs(z) }, "
    branch += "else_branch = e () => (float[2] c) { c = Abs(z) }>"
    graph = f"g (bool b, float[2] x) => (float[2] y) {{ z = rlx.Barrier(x) {branch} }}"
    program = load(parse(graph, more=', "rlx": 1'))
    assert program.requirements.capabilities == ("barriers", "control_flow")


def test_attributes_are_plain_values(parse):
    nodes = """{ c = Constant<value = float[2] {1, 2}>() d = LeakyRelu<alpha=0.5>(c)
    e = Transpose<perm=[0]>(d) y = Cast<to=7>(e) }"""
    constant, leaky, transpose, cast = load(parse("g () => (int64[2] y) " + nodes)).nodes()
    assert isinstance(constant.attribute("value"), np.ndarray)
    assert not constant.attribute("value").flags.writeable
    assert (leaky.attribute("alpha"), transpose.attribute("perm")) == (0.5, (0,))
    assert (cast.attribute("to"), cast.attribute("saturate", 9)) == (7, 9)
    assert dict(cast.signature.attributes) == {"round_mode": "up", "saturate": 1, "to": 7}
