"""The decision: who wins, what is asked of the probes, and each check by its code."""

import dataclasses

import pytest

from rlx.device import DeviceSpec
from rlx.origin import Origin
from rlx.router import CODES, Fact, Pending, Route, decide
from rlx.settings import Request

CUDA, CPU, METAL = DeviceSpec("cuda"), DeviceSpec("cpu"), DeviceSpec("metal")
WHERE = Origin("RLX_DEVICE", layer="environment")


def codes(route):
    return {one.backend: [reason.code for reason in one.reasons] for one in route.candidates}


def verdicts(route):
    return [(one.backend, one.device, one.verdict) for one in route.candidates]


def test_the_lowest_rank_wins_and_the_rest_are_not_reached(make_registry, backend, mlp):
    registry = make_registry(backend("b", rank=2), backend("a", rank=3), backend("c", rank=2))
    route = decide(registry, mlp, Request(), {})
    assert (route.backend, route.device, route.degraded) == ("b", DeviceSpec("cpu", 0), False)
    assert verdicts(route) == [
        ("b", "cpu", "selected"),
        ("c", "cpu", "not-reached"),
        ("a", "cpu", "not-reached"),
    ]


def test_requirements_are_enough(make_registry, backend, mlp):
    registry = make_registry(backend("b"))
    assert decide(registry, mlp.requirements, Request(), {}).backend == "b"


def test_a_probe_is_asked_for_only_when_the_answer_depends_on_it(make_registry, backend, mlp, row):
    unfit = backend(
        "unfit", rank=1, module="x", coverage=dataclasses.replace(backend("x").coverage, rows=())
    )
    first, last = backend("first", rank=2, module="x"), backend("last", rank=3, module="x")
    registry = make_registry(unfit, first, last)
    assert decide(registry, mlp, Request(), {}) == Pending("first", 0)
    assert decide(registry, mlp, Request(), {("first", 0): Fact()}).backend == "first"
    gone = {("first", 0): Fact("no x")}
    assert decide(registry, mlp, Request(), gone) == Pending("last", 0)


def test_a_failing_request_needs_every_fact_and_gives_every_reason(
    make_registry, backend, mlp, row
):
    unfit = backend(
        "unfit", rank=1, module="x", coverage=dataclasses.replace(backend("x").coverage, rows=())
    )
    off = backend("off", rank=2, module="x", enabled=False)
    registry = make_registry(unfit, off, backend("first", rank=3, module="x"))
    facts = {("first", 0): Fact("no x")}
    assert decide(registry, mlp, Request(), facts) == Pending("unfit", 0)
    route = decide(registry, mlp, Request(), facts | {("unfit", 0): Fact("no x")})
    assert codes(route) == {
        "unfit": ["coverage", "unavailable"],
        "off": ["disabled"],
        "first": ["unavailable"],
    }


def test_evaluating_all_gives_all_reasons_beside_the_winner(make_registry, backend, mlp):
    registry = make_registry(
        backend("a", rank=1), backend("b", rank=2, module="x"), backend("c", rank=3)
    )
    assert decide(registry, mlp, Request(), {}, evaluate_all=True) == Pending("b", 0)
    route = decide(registry, mlp, Request(), {("b", 0): Fact("no x")}, evaluate_all=True)
    assert [one.verdict for one in route.candidates] == ["selected", "rejected", "not-reached"]
    assert codes(route)["b"] == ["unavailable"]


def case(name, request, reason, **rest):
    return pytest.param(rest, request, reason, id=name)


@pytest.mark.parametrize(
    ("fields", "request_", "code"),
    [
        case("disabled", Request(), "disabled", enabled=False),
        case("disabled by id", Request(disabled=("one",)), "disabled"),
        case("disabled by alias", Request(disabled=("nvidia",)), "disabled", device="cuda"),
        case("another device", Request(devices=(CUDA,)), "not-requested"),
        case("another backend", Request(backend="two"), "not-requested"),
        case("backend on another device", Request((CUDA,), "one"), "not-requested"),
        case("oracle", Request(), "oracle", reference_oracle=True),
        case("oracle on its device", Request((CPU,)), "oracle", reference_oracle=True),
        case("emission only", Request(), "emission-only", dispatches=False),
        case("program's capability", Request(), "capability", capabilities=()),
        case("asked capability", Request(require=("deterministic",)), "capability"),
        case("index without a call probe", Request((DeviceSpec("cpu", 1),)), "unavailable"),
        case("software", Request(), "software-device", software=True),
    ],
)
def test_each_check_has_its_code(make_registry, backend, mlp, fields, request_, code):
    registry = make_registry(backend("one", **fields))
    route = decide(registry, mlp, request_, {})
    assert route.backend is None
    assert [reason.code for reason in route.candidates[0].reasons] == [code]


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (Fact("broken"), ["unavailable"]),
        (Fact(software=True), ["software-device"]),
        (Fact(open_failure="no memory"), ["open-failed"]),
        (Fact("broken", True, open_failure="x"), ["unavailable", "software-device", "open-failed"]),
    ],
)
def test_facts_speak_against_a_backend(make_registry, backend, mlp, fact, expected):
    route = decide(make_registry(backend("one", module="x")), mlp, Request(), {("one", 0): fact})
    assert codes(route) == {"one": expected}


def test_all_checks_fail_in_the_order_of_the_codes(make_registry, backend, mlp):
    bad = backend(
        "one",
        enabled=False,
        reference_oracle=True,
        dispatches=False,
        capabilities=(),
        software=True,
        coverage=dataclasses.replace(backend("x").coverage, rows=()),
    )
    facts = {("one", 0): Fact("gone", open_failure="failed")}
    route = decide(make_registry(bad), mlp, Request((CUDA,)), facts)
    assert codes(route) == {"one": list(CODES)}


def test_naming_by_id_chooses_an_oracle_and_a_software_device(make_registry, backend, mlp):
    registry = make_registry(backend("oracle", reference_oracle=True, software=True), backend("b"))
    assert decide(registry, mlp, Request(backend="oracle"), {}).backend == "oracle"


def test_asking_for_the_device_chooses_a_software_device(make_registry, backend, mlp):
    registry = make_registry(backend("lavapipe", "metal", module="x"), backend("b", rank=200))
    facts = {("lavapipe", 0): Fact(software=True)}
    assert decide(registry, mlp, Request(), facts).backend == "b"
    assert decide(registry, mlp, Request((METAL,)), facts).backend == "lavapipe"


def test_the_order_of_devices_comes_before_rank(make_registry, backend, mlp):
    registry = make_registry(
        backend("c", "cpu", 1), backend("g", "cuda", 2), backend("m", "metal", 0)
    )
    route = decide(registry, mlp, Request((CUDA, CPU), source=WHERE), {})
    assert [one.backend for one in route.candidates] == ["g", "c", "m"]
    assert route.backend == "g"


def test_precedence_comes_before_rank_and_after_devices(make_registry, backend, mlp):
    registry = make_registry(
        backend("c", rank=1), backend("d", rank=2), backend("e", rank=3), backend("g", "cuda", 4)
    )
    first = Request(precedence=("e", "d"))
    assert [one.backend for one in decide(registry, mlp, first, {}).candidates] == [
        "e",
        "d",
        "c",
        "g",
    ]
    route = decide(registry, mlp, Request((CUDA, CPU), precedence=("e",)), {})
    assert [one.backend for one in route.candidates] == ["g", "e", "c", "d"]


def test_each_index_asked_for_is_a_candidate(make_registry, backend, mlp):
    registry = make_registry(backend("g", "cuda", call="m:f"))
    request = Request((DeviceSpec("cuda", 1), DeviceSpec("cuda", 0)))
    assert decide(registry, mlp, request, {}) == Pending("g", 1)
    gone = {("g", 1): Fact("there is one device")}
    assert decide(registry, mlp, request, gone) == Pending("g", 0)
    route = decide(registry, mlp, request, gone | {("g", 0): Fact()})
    assert route.device == DeviceSpec("cuda", 0)
    assert verdicts(route) == [("g", "cuda:1", "rejected"), ("g", "cuda:0", "selected")]


def test_the_next_backend_is_taken_when_an_implicit_one_failed_to_open(make_registry, backend, mlp):
    registry = make_registry(backend("a", rank=1), backend("b", rank=2))
    failed = {("a", 0): Fact(open_failure="out of memory")}
    route = decide(registry, mlp, Request(), failed)
    assert (route.backend, route.degraded) == ("b", True)
    assert codes(route) == {"a": ["open-failed"], "b": []}
    assert decide(registry, mlp, Request(backend="a"), failed).backend is None


def test_a_route_rests_on_the_facts_it_was_made_from(make_registry, backend, mlp):
    registry = make_registry(backend("a", rank=1, module="x"), backend("b", rank=2))
    facts = {("a", 0): Fact("no x")}
    route = decide(registry, mlp, Request(), facts)
    facts.clear()
    assert codes(route) == {"a": ["unavailable"], "b": []}


def test_equal_decisions_are_equal(make_registry, backend, mlp):
    one, two = (make_registry(backend("a", module="x")) for _ in range(2))
    good, bad = ({("a", 0): Fact(reason)} for reason in (None, "no x"))
    assert decide(one, mlp, Request(), good) == decide(two, mlp, Request(), good)
    assert hash(decide(one, mlp, Request(), good)) == hash(decide(two, mlp, Request(), good))
    assert decide(one, mlp, Request(), good) != decide(one, mlp, Request(), bad)
    assert decide(one, mlp, Request(), good) != "a"


def test_a_capability_that_no_manifest_declares_is_not_enforced(make_registry, backend, mlp):
    needs = dataclasses.replace(mlp.requirements, capabilities=("barriers",))
    route = decide(make_registry(backend("a")), needs, Request(), {})
    assert isinstance(route, Route)
    assert route.backend == "a"
