"""One node becomes its function body: operands, attributes, graphs, names and types."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from rlx.operations.lowering import library_of, lowered, plan, resolved, unit_of
from rlx.operations.lowering.bodies import NoBody


@pytest.fixture
def expand(declared):
    """The program with every operation lowered that `only` names, or that may be."""

    def make(program, only=None):
        library = library_of(declared.vocabulary)
        program = resolved(program, declared.vocabulary)
        names = library.vocabulary.lowerable if only is None else only
        found = plan(unit_of(program, library), lambda one: one.operation not in names)
        assert not found.missing
        return lowered(program, found)

    return make


def operations(program):
    return Counter(node.operation for node in program.nodes())


def test_a_lowering_of_a_manifest_takes_the_place_of_its_node(load, expand):
    """Inputs, outputs and their order stay; the values between have new names."""
    program = load(
        "float[N,2] x, float[2,3] w, float[2,3] v", "float[N,3] y", "y = acme.SwiGLU (x, w, v)"
    )
    made = expand(program, {"acme::SwiGLU"})
    assert operations(made) == {"MatMul": 2, "Swish": 1, "Mul": 1}
    assert (made.inputs, made.outputs) == (program.inputs, program.outputs)
    names = [name for node in made.nodes() for name in node.outputs]
    assert names == [
        "SwiGLU_0/gate", "SwiGLU_0/value", "SwiGLU_0/active", "y",
    ]  # fmt: skip
    assert made.digest != program.digest


def test_it_computes_what_the_lines_say(load, expand):
    """swish(2·1)·(2·3) = 2/(1+e⁻²)·6."""
    program = load(
        "float[1,1] x, float[1,1] w, float[1,1] v", "float[1,1] y", "y = acme.SwiGLU (x, w, v)"
    )
    feed = {k: np.full((1, 1), n, np.float32) for k, n in (("x", 2), ("w", 1), ("v", 3))}
    (found,) = ReferenceEvaluator(expand(program).to_onnx()).run(None, feed)
    np.testing.assert_allclose(found, 12 / (1 + np.exp(-2)), rtol=1e-6)


def test_omitted_operands_and_attributes_are_filled_or_left_out(load, expand):
    """No bias: Clip has none. No second output: what only it needs is not there."""
    program = load("float[3] x", "float[3] y", "y = acme.Scaled (x)")
    made = expand(program, {"acme::Scaled"})
    leaky, clip = made.nodes()
    assert (leaky.operation, leaky.attributes) == ("LeakyRelu", (("alpha", 0.5),))
    assert (clip.operation, clip.inputs) == ("Clip", ("Scaled_0/leaky",))


def test_all_operands_and_attributes_are_passed_on(load, expand):
    """The bias is Clip's minimum; the axes are a list."""
    program = load(
        "float[2,2] x, float b", "float[2,2] y, float[2,1] n",
        "y, n = acme.Scaled <slope = 0.5, axes = [1]> (x, b)",
    )  # fmt: skip
    feed = {"x": np.array([[3, 4], [-2, 0]], np.float32), "b": np.float32(-0.5)}
    y, n = ReferenceEvaluator(expand(program, {"acme::Scaled"}).to_onnx()).run(None, feed)
    assert y.tolist() == [[3, 4], [-0.5, 0]]
    assert n.tolist() == [[5], [2]]


def test_lowerings_lower_further_and_into_graphs(load, expand):
    """A body's If holds operations that are lowered too, in the branch where they stand."""
    program = load("float[2] x", "float[2] y", "y = acme.Deep (x)")
    made = expand(program)
    (chosen,) = (node for node in made.nodes() if node.operation == "If")
    inside = Counter(node.operation for block in chosen.blocks() for node in block.nodes)
    assert inside["Erf"] == 1
    assert "Gelu" not in operations(made)
    feed = {"x": np.array([-1, -3], np.float32)}
    (found,) = ReferenceEvaluator(made.to_onnx()).run(None, feed)
    assert found.tolist() == [0.25, 0.75]


def test_the_nodes_of_a_programs_own_graphs_are_lowered(load, expand):
    """Both branches, each with names of its own, and what they read from around them."""
    program = load(
        "float[2] x, bool c", "float[2] y",
        "around = Abs (x)",
        "y = If (c) <then_branch = one () => (a) { a = Swish (around) },",
        " else_branch = two () => (b) { b = HardSwish (around) }>",
    )  # fmt: skip
    made = expand(program)
    assert not {"Swish", "HardSwish"} & set(operations(made))
    feed = {"x": np.array([-6, 3], np.float32), "c": np.array(False)}
    (found,) = ReferenceEvaluator(made.to_onnx()).run(None, feed)
    assert found.tolist() == [6, 3]


def test_what_a_nodes_own_graph_captures_is_kept_apart(load, expand):
    """`o`, `e` and `outer` of the program are not mistaken for the body's names."""
    program = load(
        "seq(float[2]) s, float[2] outer", "seq(float[2]) r",
        "r = SequenceMap (s) <body = one (float[2] e) => (float[2] o) { o = Add (e, outer) }>",
    )  # fmt: skip
    made = expand(program)
    assert operations(made)["Loop"] == 1
    feed = {"s": [np.array([1, 2], np.float32)], "outer": np.array([10, 20], np.float32)}
    (found,) = ReferenceEvaluator(made.to_onnx()).run(None, feed)
    assert [one.tolist() for one in found] == [[11, 22]]


def test_names_stay_unique_whatever_the_program_calls_its_values(load, expand):
    """The mark that new names have grows until no name of the program holds it."""
    program = load("float[2] x", "float[2] y", "q = Abs (x)", "y = Swish (q)")
    skeleton = program.skeleton.replace(b"q", b"/")
    renamed = type(program).from_canonical(skeleton, {}, "p", None)
    made = expand(renamed)
    assert [name for node in made.nodes() for name in node.outputs if "//" in name]


def test_types_below_a_declared_operation_are_known(load, declared):
    """Through its lowering, with shapes; without one, by the dtypes that it declares."""
    program = load(
        "float[N,2] x, float[2,3] w", "float[N,3] y, float[A,B] z",
        "h = acme.SwiGLU (x, w, w)", "y = Relu (h)", "g = acme.Native (x)", "z = Relu (g)",
    )  # fmt: skip
    made = resolved(program, declared.vocabulary)
    types = dict(made.body.types)
    assert (types["h"].dtype, types["h"].shape) == ("float32", ("N", 3))
    assert types["g"].dtype == "float32"
    assert all(one.known for one in made.requirements.signatures)
    assert made.requirements.signatures[2].types == (("T", "float32"),)
    assert (made, made.digest) == (program, program.digest)
    assert resolved(program, declared.vocabulary) is made


def test_nodes_that_are_alike_share_one_body(load, declared):
    """Expansions are made once for each kind of node, and once for a program."""
    program = load("float[2] x", "float[2] y", "h = Swish (x)", "y = Swish (h)")
    unit = unit_of(program, library_of(declared.vocabulary))
    assert unit.body(0) is unit.body(1)
    assert unit_of(program, library_of(declared.vocabulary)) is unit


def test_a_body_for_other_types_is_refused(load, declared):
    """ONNX gives some bodies for every dtype that are right for float32 alone."""
    block = load("float[2] x", "float[2] y", "y = Add (x, x)").body
    signature = dataclasses.replace(
        block.nodes[0].signature, types=(("T", "float32"), ("T", "float64"))
    )
    odd = dataclasses.replace(block.nodes[0], signature=signature)
    with pytest.raises(NoBody, match="its lowering mixes float32 and float64 in Add"):
        library_of(declared.vocabulary).check_types(dataclasses.replace(block, nodes=(odd,)))
