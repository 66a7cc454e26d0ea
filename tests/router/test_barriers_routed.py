"""Barriers in a decision: which backends have them, which are handed stages, and which neither."""

import dataclasses
import json

import pytest
from onnx import parser

from rlx import testing
from rlx.errors import SettingError
from rlx.freeze.content import Capability
from rlx.program import load
from rlx.registries import Registry
from rlx.router import decide
from rlx.settings import Request, make_request

HEAD = '<ir_version: 10, opset_import: ["" : 21, "rlx" : 1]>'
FIXED = """fixed (float[2] x) => (float[2] y) { a = Neg(x)  [fence] b = rlx.Barrier(a)
y = Relu(b) }"""
OPEN = """open (float[2] x) => (float[N] y) { i = NonZero(x)  [fence] b = rlx.Barrier(i)
c = Cast<to=1>(b)  y = Squeeze(c) }"""
ALL = ("barriers", "no_stages", "dynamic_shapes")


def read(graph):
    return load(parser.parse_model(f"{HEAD}\n{graph}"))


@pytest.fixture(scope="module")
def fixed():
    return read(FIXED)


def routed(program, *capabilities, dispatch="prefer-native", require=(), names=ALL):
    """The route on one backend of these capabilities, of which `names` are declared."""
    one = testing.registration("one", capabilities=capabilities, coverage=testing.covering(program))
    made = testing.registry(one)
    declared = tuple(Capability(name, "") for name in names)
    made = Registry(dataclasses.replace(made.content, capabilities=declared))
    return decide(made, program, Request(kernel_dispatch=dispatch, require=require), {})


CASES = [
    # capabilities, kernel_dispatch, the barrier's path, stages
    ((), "prefer-native", "lowered", 2),
    ((), "common", "lowered", 2),
    (("barriers",), "prefer-native", "native", 1),
    (("barriers",), "native", "native", 1),
    (("barriers",), "common", "lowered", 2),
    (("barriers", "no_stages"), "common", "native", 1),
    (("barriers",), "common,rlx::Barrier=prefer-native", "native", 1),
]


@pytest.mark.parametrize("names", [ALL, ()], ids=["declared", "not declared"])
@pytest.mark.parametrize(("capabilities", "dispatch", "path", "stages"), CASES)
def test_the_path_of_a_barrier(fixed, capabilities, dispatch, path, stages, names):
    route = routed(fixed, *capabilities, dispatch=dispatch, names=names)
    report = route.dispatch_report
    assert route.backend == "one"
    assert (path, "rlx::Barrier", 1) in report.operations
    assert report.stages == stages
    assert report.compile_ready
    assert ("rlx::Barrier" in dict(report.executed)) == (path == "native")
    assert report.to_json()["stages"] == stages
    json.dumps(route.to_json())


def test_the_report_of_a_program_that_is_cut(fixed):
    assert str(routed(fixed).dispatch_report) == (
        "dispatch on one (prefer-native): 2 native, 1 lowered\n"
        "  native   Neg 1, Relu 1\n"
        "  lowered  rlx::Barrier 1\n"
        "  rlx::Barrier became the ends of 2 stages"
    )


def test_a_route_says_that_it_cuts(fixed):
    lines = str(routed(fixed)).splitlines()
    assert lines[1] == "  it is cut at its barriers and runs in 2 stages"
    assert "cut" not in str(routed(fixed, "barriers"))


REASONS = [
    (
        ("no_stages",),
        "prefer-native",
        "lacks barriers, which the program needs; must not be handed the program in stages",
    ),
    (
        (),
        "native",
        "lacks barriers, which the program needs; kernel_dispatch native does not cut the program",
    ),
]


@pytest.mark.parametrize(("capabilities", "dispatch", "detail"), REASONS)
def test_a_backend_with_neither_says_so(fixed, capabilities, dispatch, detail):
    route = routed(fixed, *capabilities, dispatch=dispatch)
    assert route.backend is None
    ((reason,),) = (one.reasons for one in route.candidates)
    assert (reason.code, reason.detail) == ("capability", detail)
    assert reason.fix == "take the barriers out of the program: see docs/barriers.md."
    report = route.report_for("one")
    assert dict(report.counts) == {"native": 2, "lowered": 0, "missing": 1}
    (missing,) = report.missing
    assert (missing.name, missing.reason.detail) == ("fence", detail)


def test_who_requires_barriers_gets_them_natively(fixed):
    assert routed(fixed, "barriers", require=("barriers",)).backend == "one"
    route = routed(fixed, require=("barriers",))
    ((reason,),) = (one.reasons for one in route.candidates)
    assert reason.detail == "lacks barriers, which was asked for"


def test_sizes_that_open_at_a_barrier_need_a_backend_that_takes_them():
    """The program's inputs are fixed, those of its second stage are not."""
    program = read(OPEN)
    assert program.requirements.capabilities == ("barriers",)
    assert routed(program, "dynamic_shapes").backend == "one"
    assert routed(program, "barriers").backend == "one"
    assert routed(program, names=()).backend == "one"
    route = routed(program)
    assert route.backend is None
    ((reason,),) = (one.reasons for one in route.candidates)
    assert reason.detail == (
        "lacks dynamic_shapes, which the program needs; sizes of what crosses a barrier are not "
        "known before it runs"
    )


def test_selection_and_reasons_agree():
    """The masks that select, and the checks that explain, on every combination."""
    count = 0
    for program in (read(FIXED), read(OPEN)):
        for bits in range(8):
            held = [name for at, name in enumerate(ALL) if bits >> at & 1]
            for dispatch in ("native", "prefer-native", "common"):
                for names in (ALL, ()):
                    route = routed(program, *held, dispatch=dispatch, names=names)
                    reasons = route.candidates[0].reasons
                    assert (route.backend is None) == bool(reasons), (held, dispatch, names)
                    count += 1
    assert count == 96


def test_requirements_alone_are_routed_too(fixed):
    one = testing.registration("one", coverage=testing.covering(fixed))
    route = decide(testing.registry(one), fixed.requirements, Request(), {})
    assert route.backend == "one"
    assert dict(route.report_for("one").counts) == {"native": 2, "lowered": 1, "missing": 0}


def test_kernel_dispatch_may_name_barriers():
    registry = testing.registry(testing.registration("one"))
    made = make_request(registry, kernel_dispatch="prefer-native,rlx::Barrier=native")
    assert made.kernel_dispatch == "prefer-native,rlx::Barrier=native"
    with pytest.raises(SettingError, match="no operation is named 'rlx::Other'"):
        make_request(registry, kernel_dispatch="rlx::Other=native")
