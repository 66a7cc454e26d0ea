"""A precision that the program does not state, as the selector judges it."""

from dataclasses import replace

import pytest

from rlx.freeze.content import Capability
from rlx.registries import Registry
from rlx.router import Route, decide
from rlx.settings import Request


@pytest.fixture
def registry(make_registry, backend):
    made = make_registry(
        backend("plain", rank=1),
        backend("halves", rank=2, capabilities=("dynamic_shapes", "computes_f16")),
    )
    known = (*made.capabilities, Capability("computes_f16", "computes_f16"))
    return Registry(replace(made.content, capabilities=known))


@pytest.mark.parametrize(
    ("asked", "policy", "chosen"),
    [
        (None, "error", "plain"),
        ("bf16", "error", "plain"),
        ("f16", "error", "halves"),
        ("f16", "warn", "plain"),
        ("f16", "allow", "plain"),
        ("f32", "error", "plain"),
    ],
)
def test_one_that_can_is_chosen_over_one_that_comes_first(registry, mlp, asked, policy, chosen):
    """`computes_f32` is not declared here, and what nobody declares is not enforced."""
    route = decide(registry, mlp, Request(precision=asked, precision_policy=policy), {})
    assert isinstance(route, Route)
    assert route.backend == chosen
    if chosen == "halves":
        first = route.candidates[0]
        assert (first.backend, first.reasons[0].code) == ("plain", "capability")
        assert dict(first.reasons[0].data) == {
            "needed": (),
            "asked": (),
            "precision": "computes_f16",
            "stated": ("bfloat16",),
        }


def test_requirements_alone_are_judged_alike(registry, mlp):
    route = decide(registry, mlp.requirements, Request(precision="f16"), {})
    assert route.backend == "halves"
