"""The sentence of each coverage reason, and the names in it."""

import dataclasses

import onnx.parser
import pytest

import rlx
from rlx.registration import Coverage, Row
from rlx.router import Reason, decide
from rlx.settings import Request

BASE = {"node": "n", "operation": "Pad", "operand": "", "got": None, "allowed": (), "beside": ()}


def coverage(**data):
    return Reason("coverage", tuple((BASE | data).items())).detail


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        ({"kind": "operation"}, "the operation is not claimed"),
        (
            {"kind": "unknown"},
            "a type could not be inferred, or there is no such operation",
        ),
        (
            {"kind": "type", "operand": "A", "got": "int4", "allowed": ("int8", "uint8")},
            "A is int4, claimed: int8, uint8",
        ),
        (
            {
                "kind": "type",
                "operand": "Y",
                "got": "bool",
                "allowed": ("int8",),
                "beside": (("T1", "int4"), ("T2", "int8")),
            },
            "Y is bool, claimed with T1 int4 and T2 int8: int8",
        ),
        ({"kind": "type", "operand": "T", "got": "int4"}, "T is int4, claimed: none"),
        (
            {"kind": "attribute", "operand": "mode", "got": "wrap", "allowed": ("edge", None)},
            "mode is 'wrap', claimed: 'edge', nothing",
        ),
        (
            {"kind": "attribute", "operand": "pads", "got": (1, 2), "allowed": ((0, 0),)},
            "pads is [1, 2], claimed: [0, 0]",
        ),
        (
            {"kind": "attribute", "operand": "axis", "got": None, "allowed": (0, -1)},
            "axis is nothing, claimed: 0, -1",
        ),
        (
            {"kind": "ndim", "operand": "X", "got": 1, "allowed": ((2, 4), (3, 3))},
            "X has 1 dimension, claimed: 2 to 4 or 3",
        ),
        (
            {"kind": "ndim", "operand": "X", "got": None, "allowed": ((0, 4), (6, None))},
            "X has an unknown number of dimensions, claimed: at most 4 or at least 6",
        ),
    ],
)
def test_each_kind_of_miss_has_its_sentence(data, detail):
    assert coverage(**data) == f"node 'n' Pad: {detail}"


def test_foreign_text_shows_every_character():
    assert coverage(kind="operation", operation="x::\x1b[0m\u202e") == (
        "node 'n' x::\\x1b[0m\\u202e: the operation is not claimed"
    )


def reason(registry, program):
    (candidate,) = decide(registry, program, Request(), {}).candidates
    return candidate.reasons[0].detail


def test_the_operand_is_the_one_that_has_the_dtype(make_registry, backend):
    program = rlx.load(
        onnx.parser.parse_model(
            '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float16[2] y) '
            "{ [c] y = Cast <to = 10> (x) }"
        )
    )
    claims = Row(("Cast",), (("T1", ("float32",)), ("T2", ("float64",))))
    content = make_registry(backend("a", coverage=Coverage((claims,)))).content
    packaged = rlx.Registry(dataclasses.replace(content, vocabulary=None))
    assert reason(packaged, program) == "node 'c' Cast: output is float16, claimed: float64"


def test_ndim_names_the_input(make_registry, backend, row, mlp):
    rows = row("MatMul", dtypes=("bfloat16",), ndim=(3, None))
    registry = make_registry(backend("a", coverage=Coverage((rows,))))
    assert reason(registry, mlp) == "node 'mm' MatMul: A has 2 dimensions, claimed: at least 3"


def test_a_node_in_a_subgraph_is_found(make_registry, backend, row):
    program = rlx.load(
        onnx.parser.parse_model("""
            <ir_version: 10, opset_import: ["" : 21]>
            g (bool c, double[2] x) => (double[2] y) {
              [branch] y = If (c) <
                then_branch = t () => (double[2] a) { [inner] a = Relu (x) },
                else_branch = e () => (double[2] b) { [other] b = Identity (x) }
              >
            }
        """)
    )
    claims = Coverage((row("If", dtypes=()), row("Relu"), row("Identity", dtypes=("float64",))))
    registry = make_registry(backend("a", coverage=claims))
    route = decide(registry, program, Request(), {})
    index = next(node.index for node in program.nodes() if node.name == "inner")
    report = route.report_for("a")
    found = next(one for one in report.missing if one.index == index)
    assert found.reason.detail == "node 'inner' Relu: A is float64, claimed: float32"
