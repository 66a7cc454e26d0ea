"""Versions, domains, operations and local functions that this rlx does not read."""

import onnx
import pytest
from onnx import helper

from rlx.errors import UnsafeProgram
from rlx.program import load

RELU = "g (float[1] x) => (float[1] y) { y = Relu(x) }"


def test_a_newer_opset_is_refused_by_name(parse, refused):
    model = parse(RELU)
    model.opset_import[0].version = 99
    assert refused(model) == "the model imports ai.onnx 99; this rlx knows up to 28"


def test_a_newer_version_of_another_domain_is_refused_by_name(parse, refused):
    assert refused(parse(RELU, more=', "ai.onnx.ml": 77')) == (
        "the model imports ai.onnx.ml 77; this rlx knows up to 5"
    )


@pytest.mark.parametrize("version", [0, -1])
def test_versions_count_from_one(parse, refused, version):
    model = parse(RELU)
    model.opset_import[0].version = version
    assert refused(model) == f"the model imports ai.onnx {version}; versions count from 1"


def test_one_domain_under_both_names_must_have_one_version(parse, refused):
    assert refused(parse(RELU, more=', "ai.onnx": 18')) == (
        "the model imports ai.onnx twice, 17 and 18"
    )


@pytest.mark.parametrize("version", [-1, 0, 2, 15])
def test_ir_versions_from_3_are_read(parse, refused, version):
    assert refused(parse(RELU, ir=version)) == (
        f"IR version {version}; this rlx knows 3 to {onnx.IR_VERSION}"
    )


@pytest.mark.parametrize("declared", [True, False])
def test_an_initializer_is_not_an_input(parse, declared):
    """IR 3 demanded that it be declared as one; files exist that do not."""
    graph = f"g (float[1] x{', float[1] w' if declared else ''}) => (float[1] y)"
    program = load(parse(graph + "<float[1] w = {2}> { y = Add(x, w) }", 8, ir=3))
    assert [value.name for value in program.inputs] == ["x"]
    assert program.body.constants[0][0] == "w"


def test_a_model_without_imports_is_refused(parse, refused):
    model = parse(RELU)
    del model.opset_import[:]
    assert refused(model) == "node 0 (Relu): the model imports no version of ai.onnx"


def test_a_misspelt_operation_is_refused_with_the_nearest_one(parse, refused):
    assert refused(parse(RELU.replace("Relu", "Rellu"))) == (
        "node 0 (Rellu): ai.onnx has no operation of this name (did you mean Relu?)"
    )


def test_an_operation_of_a_later_opset_is_refused_with_its_opset(parse, refused):
    assert refused(parse(RELU.replace("Relu", "Gelu"))) == (
        "node 0 (Gelu): ai.onnx 17 has no such operation; it came with 20"
    )


def test_an_operation_that_is_gone_is_refused(parse, refused):
    graph = "g (float[1] x, float[1] s) => (float[1] y) { y = Upsample(x, s) }"
    assert refused(parse(graph, 10)) == (
        "node 0 (Upsample): ai.onnx 10 has no such operation any more"
    )


FUNCTION = """<domain: "l", opset_import: ["": {opset}]> f<alpha>(a) => (b)
{{ t = LeakyRelu<alpha: float = @alpha>(a)  b = {body}(t) }}"""
CALL = "g (float[2,2] x) => (float[2,2] y) { y = l.f<alpha=0.5>(x) }\n"


def test_local_functions_are_inlined(parse):
    model = parse(CALL + FUNCTION.format(opset=17, body="Relu"), more=', "l": 1', ir=10)
    nodes = list(load(model).nodes())
    assert [node.operation for node in nodes] == ["LeakyRelu", "Relu"]
    assert nodes[0].attribute("alpha") == 0.5


def test_a_local_function_of_another_opset_keeps_its_meaning(parse):
    model = parse(CALL + FUNCTION.format(opset=11, body="Hardmax"), more=', "l": 1', ir=10)
    operations = [node.operation for node in load(model).nodes()]
    assert operations[-4:] == ["Shape", "Flatten", "Hardmax", "Reshape"]


def nested(depth: int) -> onnx.ModelProto:
    """Functions that each call the next one twice: 2 ** depth nodes when inlined."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("l", 1)]
    functions = [
        helper.make_function(
            "l",
            f"f{level}",
            ["x"],
            ["y"],
            [
                helper.make_node(f"f{level + 1}", ["x"], ["a"], domain="l"),
                helper.make_node(f"f{level + 1}", ["a"], ["y"], domain="l"),
            ],
            imports,
        )
        for level in range(depth)
    ]
    relu = helper.make_node("Relu", ["x"], ["y"])
    functions.append(helper.make_function("l", f"f{depth}", ["x"], ["y"], [relu], imports))
    x, y = (helper.make_tensor_value_info(name, 1, [1]) for name in "xy")
    graph = helper.make_graph([helper.make_node("f0", ["x"], ["y"], domain="l")], "g", [x], [y])
    return helper.make_model(graph, functions=functions, opset_imports=imports, ir_version=10)


def test_functions_that_inline_to_very_many_nodes_are_refused():
    assert load(nested(3)).node_count == 8
    with pytest.raises(UnsafeProgram, match="its local functions inline to over 1000000 nodes"):
        load(nested(40))


def test_a_function_that_calls_itself_is_refused(refused):
    model = nested(1)
    model.functions[1].node[0].op_type = "f0"
    model.functions[1].node[0].domain = "l"
    assert refused(model) == "the local function 'f0' calls itself"


def test_a_program_without_outputs_is_refused(parse, refused):
    assert refused(parse("g (float[1] x) => () { y = Relu(x) }")) == (
        "the graph 'g' has no outputs, so it computes nothing"
    )
