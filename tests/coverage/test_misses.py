"""The fact to blame where a backend does not claim a node."""

from rlx.coverage import CoverageTable
from rlx.coverage.misses import Miss
from rlx.origin import Origin
from rlx.program.types import Signature
from rlx.registration import Coverage, Registration, Row

FIRST, SECOND = Origin("c.yaml", 5, 5), Origin("c.yaml", 6, 5)


def explain(rows, signature):
    one = Registration(
        "b", "cpu", "b", coverage=Coverage(tuple(rows)), origin=Origin("b.yaml", 2, 5)
    )
    return CoverageTable([one]).explain(0, signature)


def test_an_operation_in_no_row_points_at_the_registration():
    assert explain([], Signature("Add")) == Miss("operation", "Add", origin=Origin("b.yaml", 2, 5))


def test_an_unknown_type_is_said_to_be_unknown():
    rows = [Row(("Add",), origin=FIRST)]
    assert explain(rows, Signature("Add", known=False)) == Miss("unknown", "Add", origin=FIRST)


def test_a_dtype_that_no_row_allows_lists_those_of_all_rows():
    rows = [
        Row(("Add",), (("T", ("float16", "float32")),), origin=FIRST),
        Row(("Add",), (("T", ("float32", "int32")),), ndim=(0, 2), origin=SECOND),
    ]
    miss = explain(rows, Signature("Add", (("T", "bfloat16"),), ndims=((0, 3),)))
    allowed = ("float16", "float32", "int32")
    assert miss == Miss("type", "Add", "T", got="bfloat16", allowed=allowed, origin=FIRST)


def test_an_attribute_lists_the_values_allowed():
    rows = [Row(("Pad",), attributes=(("mode", ("constant", "edge")),), origin=FIRST)]
    miss = explain(rows, Signature("Pad", (), (("mode", "wrap"),)))
    allowed = ("constant", "edge")
    assert miss == Miss("attribute", "Pad", "mode", got="wrap", allowed=allowed, origin=FIRST)


def test_ndim_gives_the_input_and_the_bounds():
    rows = [Row(("Conv",), ndim=(3, 4), origin=FIRST), Row(("Conv",), ndim=(0, 1), origin=SECOND)]
    miss = explain(rows, Signature("Conv", ndims=((0, 3), (1, 5))))
    expected = Miss("ndim", "Conv", "", 1, 5, ((3, 4), (0, 1)), origin=FIRST)
    assert miss == expected


def test_where_only_the_combination_fails_the_nearest_row_is_blamed():
    rows = [
        Row(("Cast",), (("T1", ("float32",)), ("T2", ("int32",))), origin=FIRST),
        Row(("Cast",), (("T1", ("int32",)), ("T2", ("bool", "float32"))), origin=SECOND),
    ]
    miss = explain(rows, Signature("Cast", (("T1", "float32"), ("T2", "bool"))))
    beside = (("T1", "float32"),)
    assert miss == Miss("type", "Cast", "T2", 0, "bool", ("int32",), beside, FIRST)
