"""The opset that a program is written at: the lowest that means the same, or the one asked for."""

import onnx
import pytest

from rlx.errors import ProgramError
from rlx.program import load
from rlx.program.stamping import versions_needed

LOWEST = [
    ("Relu(x)", 28, 13),
    ("Softmax(x)", 28, 13),
    ("Shape<start=0>(x)", 28, 13),
    ("Shape<start=1>(x)", 28, 15),
    ("Gelu(x)", 28, 20),
    ("Elu(x)", 28, 13),
    ("Cast<to=10, saturate=1>(x)", 28, 13),
    ("Cast<to=17>(x)", 28, 19),
    ("Cast<to=22>(x)", 28, 21),
    ("Reshape<allowzero=0>(x, x)", 28, 13),
]


def written(parse, node: str, opset: int = 28) -> onnx.ModelProto:
    graph = "g (float[2,3] x, int64[2] s) => (float[A,B] y)"
    model = parse(f"{graph} {{ y = {node.replace('x, x', 'x, s')} }}", opset, ir=14)
    model.graph.output[0].ClearField("type")
    return model


@pytest.mark.parametrize(("node", "opset", "lowest"), LOWEST)
def test_the_lowest_opset_with_the_same_meaning_is_stated(parse, node, opset, lowest):
    model = load(written(parse, node, opset)).to_onnx()
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", lowest)]
    onnx.checker.check_model(model, full_check=True)


def test_attributes_that_an_older_schema_lacks_are_dropped_at_their_default(parse):
    model = load(written(parse, "Shape<start=0>(x)")).to_onnx(13)
    assert not model.graph.node[0].attribute


def test_bfloat16_needs_the_opset_that_allows_it(parse):
    graph = "g (bfloat16[2] x) => (bfloat16[2] y) { y = Elu(x) }"
    assert load(parse(graph, 28, ir=14)).to_onnx().opset_import[0].version == 22


def test_any_opset_from_the_lowest_on_can_be_asked_for(parse):
    program = load(parse("g (float[2] x) => (float[2] y) { y = Relu(x) }"))
    for opset in (6, 7, 13, 21, 28):
        model = program.to_onnx(opset)
        assert model.opset_import[0].version == opset
        onnx.checker.check_model(model, full_check=True)
        assert load(model) == program


@pytest.mark.parametrize(
    ("opset", "reason"),
    [
        (12, "node 'Softmax_0' (Softmax) needs at least 13"),
        (0, "node 'Softmax_0' (Softmax) needs at least 13"),
        (29, "this rlx knows up to 28"),
    ],
)
def test_an_opset_that_cannot_be_is_refused(parse, opset, reason):
    program = load(parse("g (float[2] x) => (float[2] y) { y = Softmax(x) }"))
    with pytest.raises(ProgramError) as caught:
        program.to_onnx(opset)
    assert str(caught.value) == (
        f"the program cannot be written at opset {opset}: {reason}. "
        "Fix: ask for an opset from 13 to 28."
    )


@pytest.mark.parametrize(
    ("dtype", "ir"), [("float", 7), ("float8e4m3fn", 9), ("int4", 10), ("float4e2m1", 11)]
)
def test_the_ir_version_is_the_lowest_that_allows_opset_and_dtypes(parse, dtype, ir):
    graph = f"g ({dtype}[2] x) => ({dtype}[2] y) {{ y = Identity(x) }}"
    assert load(parse(graph, 28, ir=14)).to_onnx().ir_version == ir


def test_weights_are_written_and_are_no_inputs(parse):
    graph = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"
    model = load(parse(graph)).to_onnx()
    assert [value.name for value in model.graph.input] == ["x"]
    assert onnx.numpy_helper.to_array(model.graph.initializer[0]).tolist() == [1, 2]


def test_subgraphs_decide_too(parse):
    model = parse(
        """g (bool b, float[3] x) => (float[3] y) {
        y = If (b) <then_branch = t () => (float[3] a) { a = Gelu(x) },
                    else_branch = e () => (float[3] c) { c = Neg(x) }> }""",
        20,
        ir=9,
    )
    program = load(model)
    version, node = versions_needed(program.body)[""]
    assert (version, node.operation) == (20, "Gelu")
    assert program.to_onnx().opset_import[0].version == 20


def test_other_domains_state_the_lowest_version_too():
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["ai.onnx.ml": 3]> g (float[1,2] x) => (float[1,2] y)
        { y = ai.onnx.ml.Scaler<offset=[1.0, 2.0], scale=[1.0, 1.0]>(x) }"""
    )
    written = {e.domain: e.version for e in load(model).to_onnx().opset_import}
    assert written == {"": 13, "ai.onnx.ml": 1}


def test_a_program_over_two_gib_says_so(parse, monkeypatch):
    monkeypatch.setattr("rlx.program.program.LARGEST_FILE", 10)
    program = load(parse("g (float[2] x) => (float[2] y) { y = Relu(x) }"))
    with pytest.raises(ProgramError, match="over the 2 GiB that an ONNX model in memory may have"):
        program.to_onnx()
