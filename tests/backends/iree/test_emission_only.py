"""Backends that only compile take part in no route, and say why."""

import pytest

import rlx
from rlx.errors import NoBackend

EMITTING = ("iree-metal", "iree-rocm-gfx1100", "iree-rocm-gfx942")


@pytest.fixture
def graph():
    made = rlx.Graph("g")
    x = made.input("x", (2,), "f32")
    made.set_outputs([made.add(x, x)])
    return made


def test_these_only_compile():
    found = [one for one in rlx.default_registry().registrations if not one.dispatches]
    assert set(EMITTING) <= {one.id for one in found}
    assert all(one.compiler for one in found)


def test_no_route_takes_one(graph):
    """Whatever is asked for, and with every candidate judged."""
    for device in (None, "metal", "rocm"):
        route = rlx.route(graph, device, evaluate_all=True)
        verdicts = {one.backend: one for one in route.candidates}
        for name in EMITTING:
            assert verdicts[name].verdict == "rejected"
            assert "emission-only" in {reason.code for reason in verdicts[name].reasons}


@pytest.mark.parametrize("name", EMITTING)
def test_asked_for_by_name_it_says_so(graph, name):
    with pytest.raises(NoBackend) as refusal:
        rlx.Session(backend=name).compile(graph)
    line = next(one for one in str(refusal.value).splitlines() if "emission-only" in one)
    assert line.split()[:2] == [name, "emission-only"]
    assert "it can't run programs: it does not dispatch" in line
