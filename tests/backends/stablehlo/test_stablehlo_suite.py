"""A sample of ONNX's cases, exported, serialised and loaded: right, or refused before it runs."""

from types import SimpleNamespace

import pytest

from rlx.backends.payload import Payload, Target
from rlx.conformance.cases import load_cases
from rlx.conformance.measure import read
from rlx.conformance.trial import PASSED, attempt
from rlx.device import DeviceSpec
from rlx.errors import UnsupportedFeature

pytestmark = [pytest.mark.needs("jax"), pytest.mark.needs("flatbuffers")]
EVERY = 151


def through_bytes(program, options):
    """What a backend's `compile` does, by way of a payload."""
    from rlx.backends.stablehlo.payload import StablehloCompiler, StablehloMaterializer

    del options
    parts = StablehloCompiler().compile(program, Target("jax-cpu", "cpu"))
    payload = Payload("stablehlo", "jax", tuple(parts.items()))
    return StablehloMaterializer().materialize(payload, DeviceSpec("cpu", 0))


def outcomes(cases):
    """Per case what it gave, and whether it was refused."""
    backend = SimpleNamespace(compile=through_bytes)
    for case in cases:
        trial = read(case)
        if not isinstance(trial, str):
            outcome = attempt(backend, trial)
            yield case.name, outcome, outcome.detail.startswith(UnsupportedFeature.__name__)


def test_a_sample_of_the_suite():
    found = list(outcomes(load_cases(("node", "simple"))[::EVERY]))
    broken = [
        (name, outcome.detail)
        for name, outcome, refused in found
        if outcome.status != PASSED and not refused
    ]
    assert broken == []
    assert sum(outcome.status == PASSED for _, outcome, _ in found) >= 6
