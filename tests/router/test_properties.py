"""Properties of every decision, over random registries."""

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.device import Device, DeviceSpec
from rlx.freeze.content import Capability, Content
from rlx.operations import Vocabulary
from rlx.program.types import Requirements, Signature
from rlx.registration import LAST_RANK, Coverage, Probe, Registration, Row
from rlx.registries import Registry
from rlx.router import Fact, Pending, Route, decide
from rlx.settings import Request

OPERATIONS = ("A", "B", "C")
DEVICES = ("cpu", "cuda")
CAPABILITIES = ("x", "y")


def subsets(names):
    return st.lists(st.sampled_from(names), unique=True).map(tuple)


registrations = st.builds(
    Registration,
    id=st.just(""),
    device=st.sampled_from(DEVICES),
    target=st.just(""),
    rank=st.integers(0, 3),
    dispatches=st.sampled_from([True, True, True, False]),
    reference_oracle=st.sampled_from([False, False, True]),
    software=st.sampled_from([False, False, True]),
    enabled=st.sampled_from([True, True, True, False]),
    probes=st.sampled_from([(), (Probe("module", ("m",)),), (Probe("call", ("m:f",)),)]),
    capabilities=subsets(CAPABILITIES),
    coverage=subsets(OPERATIONS).map(lambda names: Coverage((Row(names),) if names else ())),
)
lists = st.lists(registrations, max_size=6).map(
    lambda found: [
        dataclasses.replace(one, id=f"b{i}", target=f"b{i}") for i, one in enumerate(found)
    ]
)
needs = st.tuples(subsets(OPERATIONS), subsets(CAPABILITIES)).map(
    lambda pair: Requirements(
        tuple(map(Signature, pair[0])), tuple(range(len(pair[0]))), (1,) * len(pair[0]), pair[1]
    )
)
specs = st.sampled_from([DeviceSpec("cpu"), DeviceSpec("cuda"), DeviceSpec("cuda", 1)])
ids = st.sampled_from([f"b{i}" for i in range(6)])
requests = st.builds(
    Request,
    devices=st.lists(specs, max_size=3, unique=True).map(tuple),
    backend=st.none() | st.none() | ids,
    disabled=st.lists(ids | st.sampled_from([*DEVICES, "nvidia"]), max_size=1).map(tuple),
    precedence=st.lists(ids, max_size=2, unique=True).map(tuple),
    require=subsets(CAPABILITIES).filter(lambda names: len(names) < 2),
)
facts = st.dictionaries(
    st.tuples(ids, st.integers(0, 1)),
    st.builds(
        Fact,
        reason=st.none() | st.none() | st.just("gone"),
        software=st.sampled_from([False, False, True]),
        open_failure=st.none() | st.none() | st.just("failed"),
    ),
)


def freeze(found):
    return Registry(
        Content(
            tuple(sorted(found, key=lambda one: (one.rank, one.id))),
            (Device("cpu", "CPU"), Device("cuda", "CUDA", ("nvidia",))),
            tuple(Capability(name, name) for name in CAPABILITIES),
            vocabulary=Vocabulary((), 28),
        )
    )


def settle(registry, program, request, known, **options):
    """Answer each `Pending` from the facts, where a missing one means that all is well."""
    told, asked = {}, []
    told.update({key: fact for key, fact in known.items() if fact.open_failure})
    while isinstance(found := decide(registry, program, request, told, **options), Pending):
        key = (found.backend, found.index)
        assert key not in asked
        asked.append(key)
        told[key] = known.get(key, Fact())
    assert isinstance(found, Route)
    return found


asked = given(lists, needs, requests, facts)


@asked
@settings(deadline=None, max_examples=150)
def test_a_route_keeps_what_was_asked(found, program, request, known):
    route = settle(freeze(found), program, request, known)
    if route.backend is None:
        assert all(one.verdict == "rejected" and one.reasons for one in route.candidates)
        return
    one = next(one for one in found if one.id == route.backend)
    claimed = {name for row in one.coverage.rows for name in row.operations}
    assert {signature.operation for signature in program.signatures} <= claimed
    assert {*program.capabilities, *request.require} <= set(one.capabilities)
    assert one.enabled
    assert one.dispatches
    assert one.id not in request.disabled
    assert not request.backend or request.backend == one.id
    assert not request.devices or one.device in {spec.name for spec in request.devices}
    assert not one.reference_oracle or request.backend == one.id
    assert not one.software or request.backend == one.id or request.devices


@asked
@settings(deadline=None, max_examples=150)
def test_explaining_agrees_with_routing(found, program, request, known):
    registry = freeze(found)
    route = settle(registry, program, request, known)
    full = settle(registry, program, request, known, evaluate_all=True)
    assert (full.backend, full.device, full.degraded) == (
        route.backend,
        route.device,
        route.degraded,
    )
    order = [(one.backend, one.device) for one in route.candidates]
    assert order == [(one.backend, one.device) for one in full.candidates]
    assert {name for name, _ in order} == {one.id for one in found}
    fitting = [one for one in full.candidates if not one.reasons]
    assert fitting == [] if full.backend is None else fitting[0].verdict == "selected"
    for one, two in zip(route.candidates, full.candidates, strict=True):
        assert one.verdict == "not-reached" or one.reasons == two.reasons[: len(one.reasons)]


@asked
@settings(deadline=None, max_examples=100)
def test_the_order_of_registrations_does_not_matter(found, program, request, known):
    one, two = freeze(found), freeze(found[::-1])
    assert settle(one, program, request, known) == settle(two, program, request, known)


@given(lists, needs, requests, facts, registrations)
@settings(deadline=None, max_examples=100)
def test_a_backend_added_behind_all_others_never_takes_over(found, program, request, known, added):
    before = settle(freeze(found), program, request, known)
    last = dataclasses.replace(added, id="last", target="last", rank=LAST_RANK)
    after = settle(freeze([*found, last]), program, request, known)
    if before.backend is not None and not request.devices:
        assert after.backend == before.backend


@asked
@settings(deadline=None, max_examples=100)
def test_every_route_has_text_and_data(found, program, request, known):
    route = settle(freeze(found), program, request, known)
    data = route.to_json()
    assert data["backend"] == route.backend
    assert len(data["candidates"]) == len(route.candidates)
    assert all(one.backend in str(route) for one in route.candidates)
    if route.backend is None:
        assert str(route.error()) == str(route)
