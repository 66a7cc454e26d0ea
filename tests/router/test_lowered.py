"""Lowering in a decision: what it makes possible, what it says, and what it does not cost."""

import dataclasses

import onnx.parser
import pytest

import rlx
from rlx import testing
from rlx.registration import Coverage, Row
from rlx.router import decide
from rlx.router.document import SCHEMA
from rlx.settings import Request

BRANCH = """\
apiVersion: rlx/v1
kind: Operations
operations:
  - name: acme::Branch
    inputs: [{name: x, type: float32}]
    outputs: [{name: out, type: float32}]
    lowering: |
      sum = ReduceSum <keepdims = 0> (x)
      some = Cast <to = 9> (sum)
      out = If (some) <
        then_branch = yes () => (a) { a = Neg (x) },
        else_branch = no () => (b) { b = Identity (x) }
      >
"""
FLOAT = (("T", ("float32",)),)
SWISH = ("Sigmoid", "Mul", "Constant", "CastLike")
CAST = Row(("CastLike",), (("T1", ("float32",)), ("T2", ("float32",))))
CONSTANT = Row(("Constant",), (("T", ("float32",)),))


def program(*lines):
    body = "\n".join(lines)
    head = '<ir_version: 10, opset_import: ["" : 28, "acme" : 1]> p (float[2] x) => (float[2] y)'
    return rlx.load(onnx.parser.parse_model(f"{head} {{\n{body}\n}}"))


def claiming(name, *operations, rank=100, rows=(), **fields):
    own = tuple(Row((one,), FLOAT) for one in operations)
    coverage = Coverage((*own, *rows), "declared")
    return testing.registration(name, rank=rank, coverage=coverage, **fields)


@pytest.fixture
def one():
    """A program of one Swish."""
    return program("[act] y = Swish (x)")


@pytest.fixture
def pieces():
    """Claims all that Swish becomes."""
    return claiming("pieces", "Sigmoid", "Mul", rows=(CAST, CONSTANT))


@pytest.fixture
def load_declared(tmp_path):
    """A backend that claims all pieces but has no control flow, and the program."""
    path = tmp_path / "operations.yaml"
    path.write_text(BRANCH, encoding="utf-8")
    bools = Row(("If",), (("V", ("float32",)),))
    cast = Row(("Cast",), (("T1", ("float32",)), ("T2", ("bool",))))
    reduce = Row(("ReduceSum",), FLOAT)
    one = claiming("flat", "Neg", "Identity", rows=(bools, cast, reduce))
    words = rlx.Registry.load([path], only=True).content
    registry = rlx.Registry(dataclasses.replace(words, registrations=(one,)))
    return registry, program("[b] y = acme.Branch (x)")


def chosen(registry, program, dispatch="prefer-native", **more):
    return decide(registry, program, Request(kernel_dispatch=dispatch), {}, **more)


def test_a_backend_covers_what_its_claims_lower_to(one, pieces):
    """By rank alone: lowering is no reason against it."""
    registry = testing.registry(pieces, claiming("native", "Swish", rank=200))
    route = chosen(registry, one)
    assert (route.backend, route.lowers) == ("pieces", True)
    assert dict(route.dispatch_report.counts) == {"native": 0, "lowered": 1, "missing": 0}
    assert {node.operation for node in route.executed.nodes()} == set(SWISH)


def test_native_refuses_lowering_and_says_so(one, pieces):
    """The policy is named as what keeps it from running."""
    route = chosen(testing.registry(pieces), one, "native")
    (reason,) = route.candidates[0].reasons
    assert reason.detail == (
        "node 'act' Swish: the operation is not claimed, and kernel_dispatch native does not "
        "lower it"
    )


@pytest.mark.parametrize(
    ("dispatch", "path"),
    [
        ("prefer-native", "native"),
        ("native", "native"),
        ("common", "lowered"),
        ("prefer-native,Swish=common", "lowered"),
        ("common,Swish=native", "native"),
        ("native,Swish=common", "lowered"),
        ("common,Swish=prefer-native", "native"),
    ],
)
def test_each_policy_takes_its_path(one, dispatch, path):
    """Where both are possible."""
    both = claiming("both", "Swish", "Sigmoid", "Mul", rows=(CAST, CONSTANT))
    report = chosen(testing.registry(both), one, dispatch).dispatch_report
    assert [at for at, count in report.counts if count] == [path]
    assert report.policy == dispatch


def test_common_leaves_native_what_its_lowering_cannot_run(one):
    """And the report says which."""
    report = chosen(testing.registry(claiming("some", "Swish")), one, "common").dispatch_report
    assert report.operations == (("native", "Swish", 1),)


def test_what_a_lowering_lacks_is_said_beside_what_is_not_claimed(one):
    """Both, for the node that is named; several pieces, in order."""
    registry = testing.registry(claiming("some", "Sigmoid"))
    (reason,) = chosen(registry, one).candidates[0].reasons
    assert reason.detail == (
        "node 'act' Swish: the operation is not claimed, and its lowering needs Constant, which "
        "is not claimed, CastLike, which is not claimed (its lowering needs Cast, which is not "
        "claimed) and Mul, which is not claimed"
    )


def test_a_piece_within_a_piece_is_said(pieces):
    """Mish is lowered to Softplus, which is never lowered."""
    registry = testing.registry(claiming("some", "Tanh", "Mul"))
    (reason,) = chosen(registry, program("[act] y = Mish (x)")).candidates[0].reasons
    assert reason.detail == (
        "node 'act' Mish: the operation is not claimed, and its lowering needs Softplus, which is "
        "not claimed"
    )


def test_a_fact_of_a_piece_is_said_with_what_is_claimed(one):
    """As for a node of the program."""
    half = Row(("Mul",), (("T", ("float16",)),))
    registry = testing.registry(claiming("some", "Sigmoid", rows=(CAST, CONSTANT, half)))
    (reason,) = chosen(registry, one).candidates[0].reasons
    assert reason.detail == (
        "node 'act' Swish: the operation is not claimed, and its lowering needs Mul where T is "
        "float32, claimed: float16"
    )


def test_a_capability_that_a_lowering_needs_is_asked_of_the_backend(load_declared):
    """acme::Branch is lowered to an If, which only a backend with control flow may be given."""
    registry, program = load_declared
    (reason,) = chosen(registry, program).candidates[0].reasons
    assert reason.detail == (
        "node 'b' acme::Branch: the operation is not claimed, and its lowering needs control_flow"
    )


def test_an_operation_that_nobody_declares_says_to_declare_it():
    """Whatever the backend claims."""
    registry = testing.registry(claiming("some", "Relu"))
    (reason,) = chosen(registry, program("[odd] y = acme.Odd (x)")).candidates[0].reasons
    assert (reason.detail, reason.fix) == (
        "node 'odd' acme::Odd: unknown operation: neither ONNX nor a manifest declares it",
        "declare acme::Odd in an Operations manifest, with a lowering: see docs/operations.md.",
    )


def test_the_text_says_in_a_line_what_is_lowered(one, pieces):
    """Below the choice; nothing where all is native."""
    lines = str(chosen(testing.registry(pieces), one)).splitlines()
    assert lines[1:] == [
        "  1 node is lowered (Swish 1): 5 are run; `rlx explain --nodes` shows which"
    ]
    native = str(chosen(testing.registry(claiming("native", "Swish")), one)).splitlines()
    assert len(native) == 1


def test_the_report_lists_what_each_operation_became(one, pieces):
    """As text and as data; what is run is counted as well."""
    report = chosen(testing.registry(pieces), one).dispatch_report
    assert str(report).splitlines() == [
        "dispatch on pieces (prefer-native): 1 lowered",
        "  lowered  Swish 1",
        "  Swish became CastLike 1, Constant 1, Mul 2, Sigmoid 1",
    ]
    made = report.to_json()
    became = [("CastLike", 1), ("Constant", 1), ("Mul", 2), ("Sigmoid", 1)]
    listed = [{"operation": name, "nodes": count} for name, count in became]
    assert made["lowered"] == [{"operation": "Swish", "became": listed}]
    assert made["executed"] == listed


def test_a_route_with_lowering_fits_its_schema(one, pieces):
    """Chosen and refused alike."""
    jsonschema = pytest.importorskip("jsonschema")
    some = claiming("some", "Sigmoid", rank=50)
    for registry in (testing.registry(pieces), testing.registry(some)):
        jsonschema.validate(chosen(registry, one).to_json(), SCHEMA)


def test_a_program_that_is_native_is_not_expanded(one, pieces):
    """Nothing is derived from it, also where a later backend would have to lower it."""
    registry = testing.registry(claiming("native", "Swish", rank=1), pieces)
    route = chosen(registry, one)
    assert (route.backend, route.executed) == ("native", one)
    assert one.variants == {}


def test_a_backend_that_is_known_not_to_work_is_not_expanded_for(one, pieces):
    """A probe's answer is cheaper than an expansion."""
    from rlx.registration import Probe
    from rlx.router import Fact

    absent = claiming("absent", "Sigmoid", "Mul", rank=1, rows=(CAST, CONSTANT),
                      probes=(Probe("module", ("nothing",)),))  # fmt: skip
    registry = testing.registry(absent, claiming("native", "Swish", rank=2))
    route = decide(registry, one, Request(), {("absent", 0): Fact("it is not installed")})
    assert route.backend == "native"
    assert one.variants == {}
